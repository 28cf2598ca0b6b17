/** An operation that takes its worker down with it must not be resumed for ever: everyone else's work stops with it. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { maxCrashes } from '../../src/operations/execution.ts';
import { layoutOf } from '../../src/store/data-folder.ts';
import { runningConnection } from '../../src/store/embedded/embedded-postgres.ts';
import { sql } from '../../src/store/sql.ts';
import { OperationBench, startOperationHost } from '../support/operations.ts';
import { temporaryFolder } from '../support/postgres.ts';
import { stepNames, type TenStepsInput } from '../support/ten-steps.ts';

type Crash = NonNullable<TenStepsInput['crash']>;

/** Those before the last three are written into the journal: each real one is another start. */
const written = maxCrashes - 3;

/** One process after the other, as a supervisor starts them, until the operation has ended. */
async function run(bench: OperationBench, crash: Crash, failAt?: string) {
  const id = await bench.enqueue({
    world: bench.world.url,
    crash: { ...crash },
    ...(failAt ? { failAt } : {}),
  });
  let crashes = 0;
  for (;;) {
    const host = await bench.host();
    const ended = bench.ended(id).then((row) => ({ row }));
    const outcome = await Promise.race([ended, host.exited.then(() => 'crashed' as const)]);
    if (outcome !== 'crashed') {
      await host.stop();
      return { ...outcome.row, crashes, acts: bench.world.actsOf(id), id };
    }
    crashes += 1;
    if (crashes === 1)
      await bench.db.run(sql`
        update operation_steps set crashes = ${written} where operation_id = ${id} and name = ${crash.step}`);
    ended.catch(() => undefined);
    assert.ok(crashes < 6, 'it goes on for ever');
  }
}

test('whoever wants to keep the service down with an operation that crashes it gets eight crashes, then a fault', async (t) => {
  const bench = await OperationBench.open(t);
  const { state, fault, crashes, acts } = await run(bench, { step: 'step-3', in: 'run', lives: 100 });
  assert.deepEqual([state, fault?.code, fault?.step, crashes], ['failed', 'worker_crashed', 'step-3', 3]);
  assert.deepEqual(acts, [], 'what was done is undone');
  await bench.nothingLeft();
});

test('whoever wants the same by an undo that crashes it does not get it either, and the fault names what is left', async (t) => {
  const bench = await OperationBench.open(t);
  const crash = { step: 'step-2', in: 'undo', lives: 100 } as const;
  const { state, fault, crashes, acts } = await run(bench, crash, 'step-3');
  assert.deepEqual([state, fault?.code, crashes], ['failed', 'undo_failed', 3]);
  assert.match(fault?.evidence ?? '', /step-2: the service stopped 8 times/);
  assert.deepEqual(acts, [['step-2', 1]]);
});

test('a service that was killed twice in one step goes on, and the count begins anew with the next', async (t) => {
  const bench = await OperationBench.open(t);
  const { state, crashes, acts, id } = await run(bench, { step: 'step-3', in: 'run', lives: 2 });
  assert.deepEqual([state, crashes], ['succeeded', 2]);
  assert.deepEqual(
    acts,
    stepNames.map((name) => [name, 1]),
  );
  const counts = await bench.db.rows<{ crashes: number }>(sql`
    select distinct crashes from operation_steps where operation_id = ${id}`);
  assert.deepEqual(counts, [{ crashes: 0 }]);
});

test('after kill -9 on the embedded database the next start goes on at once: nobody waits for the lease of the dead', async (t) => {
  const dataDir = temporaryFolder('embedded');
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  // Leases and looks so long that only taking over can explain that it goes on.
  const env = { SLIPWAY_DATA_DIR: dataDir, HOST_LEASE_MS: '1200000', HOST_LOOK_MS: '1200000' };
  const victim = await startOperationHost(t, env);
  const { host, user, password, database } = runningConnection(layoutOf(dataDir));
  const url = `postgres://${user}:${password}@/${database}?host=${encodeURIComponent(host ?? '')}`;
  const bench = await OperationBench.open(t, url);
  const id = await bench.enqueue({ world: bench.world.url, hangAt: 'step-2', hangs: 1 });
  await bench.until(id, () => bench.world.actsOf(id).length === 2);
  victim.child.kill('SIGKILL');
  await victim.exited;
  const heir = await startOperationHost(t, env);
  const { state, epoch } = await bench.ended(id);
  assert.deepEqual([state, epoch], ['succeeded', 2]);
  await heir.stop();
});
