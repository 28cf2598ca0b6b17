import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperationKinds } from '../../src/operations/kinds.ts';
import { cancelOperation } from '../../src/operations/operations.ts';
import { defaultLeaseTimes } from '../../src/operations/runner.ts';
import { OperationBench } from '../support/operations.ts';
import { stepNames } from '../support/ten-steps.ts';

const noKinds = new OperationKinds();
const allOnce = stepNames.map((name) => [name, 1]);

test('a worker stopped in the middle of an act that wakes after its lease has passed on changes nothing, here or outside', async (t) => {
  const bench = await OperationBench.open(t);
  const stale = await bench.host();
  const id = await bench.enqueue({ world: bench.world.url, stepMs: 200 });
  await bench.until(id, (row) => row.epoch === 1 && row.state === 'running');
  const held = bench.world.gate(`${id}/step-2`);
  await held.arrived;
  stale.child.kill('SIGSTOP');
  const heir = await bench.host();
  await bench.until(id, (row) => row.epoch >= 2);
  held.open();
  const done = await bench.ended(id);
  assert.equal(done.state, 'succeeded');
  assert.deepEqual(bench.world.actsOf(id), allOnce);
  stale.child.kill('SIGCONT');
  await stale.stop('SIGTERM');
  assert.deepEqual(await bench.row(id), done, 'the row is as the heir left it');
  assert.deepEqual(bench.world.actsOf(id), allOnce);
  await heir.stop();
  await bench.nothingLeft();
});

test('a graceful stop hands the lease back: another instance goes on long before it would have run out', async (t) => {
  const bench = await OperationBench.open(t);
  // A lease so long, and looks so rare, that only a handover can explain that it goes on.
  const slow = { HOST_LEASE_MS: '1200000', HOST_LOOK_MS: '1200000' };
  const owner = await bench.host(slow);
  const heir = await bench.host(slow);
  heir.child.kill('SIGSTOP');
  const id = await bench.enqueue({ world: bench.world.url, hangAt: 'step-2', hangs: 1 });
  await bench.until(id, () => bench.world.actsOf(id).length === 2);
  heir.child.kill('SIGCONT');
  await owner.stop('SIGTERM');
  await bench.until(id, (row) => row.epoch === 2);
  assert.equal((await bench.ended(id)).state, 'succeeded');
  assert.deepEqual(bench.world.actsOf(id), allOnce);
});

test('after a crash it is resumed once its lease has run out, which with the leases of real life is within 15 seconds', async (t) => {
  const { leaseMs, pollMs } = defaultLeaseTimes;
  assert.ok(leaseMs + 2 * pollMs < 15_000);
  const bench = await OperationBench.open(t);
  const real = { HOST_LEASE_MS: '', HOST_LOOK_MS: '' };
  const victim = await bench.host(real);
  const id = await bench.enqueue({ world: bench.world.url, killAt: 6 });
  await victim.exited;
  const { leaseUntil } = await bench.row(id);
  assert.ok(leaseUntil && leaseUntil.getTime() - Date.now() <= leaseMs, 'its lease is no longer than that');
  await bench.host(real);
  await bench.until(id, (row) => row.epoch === 2);
  assert.equal((await bench.ended(id)).state, 'succeeded');
});

test('cancelled before it begins, it never does; while it runs, it stops and undoes everything', async (t) => {
  const bench = await OperationBench.open(t);
  const cancel = (id: Parameters<typeof cancelOperation>[3]) =>
    cancelOperation(bench.db, noKinds, bench.workspaceId, id);
  const early = await bench.enqueue({ world: bench.world.url });
  await cancel(early);
  assert.equal((await bench.row(early)).state, 'cancelled');
  await bench.host();

  await t.test('it stops, undoes everything, and only then is cancelled', async () => {
    const id = await bench.enqueue({ world: bench.world.url, hangAt: 'step-4' });
    await bench.until(id, () => bench.world.actsOf(id).length === 4);
    await cancel(id);
    const row = await bench.ended(id);
    assert.equal(row.state, 'cancelled');
    assert.equal(row.fault, null);
    assert.deepEqual(bench.world.actsOf(id), []);
    await assert.rejects(cancel(id), { code: 'already_finished' });
    await bench.nothingLeft();
  });

  await t.test('asked three times at once, it is cancelled once', async () => {
    const id = await bench.enqueue({ world: bench.world.url, hangAt: 'step-1' });
    await bench.until(id, () => bench.world.actsOf(id).length === 1);
    await Promise.all([1, 2, 3].map(() => cancel(id)));
    assert.equal((await bench.ended(id)).state, 'cancelled');
  });
  assert.deepEqual(bench.world.actsOf(early), []);
});
