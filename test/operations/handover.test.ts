import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperationKinds } from '../../src/operations/kinds.ts';
import { cancelOperation } from '../../src/operations/operations.ts';
import { OperationBench } from '../support/operations.ts';
import { stepNames } from '../support/ten-steps.ts';

const noKinds = new OperationKinds();
const allOnce = stepNames.map((name) => [name, 1]);

test('a worker that wakes after its lease has passed on changes nothing, here or outside', async (t) => {
  const bench = await OperationBench.open(t);
  const stale = await bench.host();
  const id = await bench.enqueue({ world: bench.world.url, hangAt: 'none', stepMs: 30 });
  await bench.until(id, (row) => row.epoch === 1 && row.state === 'running');
  stale.child.kill('SIGSTOP');
  const heir = await bench.host();
  const done = await bench.ended(id);
  assert.equal(done.state, 'succeeded');
  assert.ok(done.epoch >= 2, 'the lease passed on');
  const acts = bench.world.actsOf(id);
  assert.deepEqual(acts, allOnce);
  stale.child.kill('SIGCONT');
  await stale.stop('SIGTERM');
  assert.deepEqual(await bench.row(id), done, 'the row is as the heir left it');
  assert.deepEqual(bench.world.actsOf(id), acts);
  await heir.stop();
  await bench.nothingLeft();
});

test('a stale worker in the middle of an act is refused by the world, and by the journal', async (t) => {
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
  assert.equal((await bench.ended(id)).state, 'succeeded');
  stale.child.kill('SIGCONT');
  await stale.stop('SIGTERM');
  assert.deepEqual(bench.world.actsOf(id), allOnce);
  await heir.stop();
});

test('a graceful stop hands the lease back: another instance goes on long before it would have run out', async (t) => {
  const bench = await OperationBench.open(t);
  // A lease so long, and looks so rare, that only a handover can explain that it goes on.
  const slow = { HOST_LEASE_MS: '120000', HOST_LOOK_MS: '120000' };
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

test('after a crash it is resumed within 15 seconds, with the leases of real life', async (t) => {
  const bench = await OperationBench.open(t);
  const real = { HOST_LEASE_MS: '', HOST_LOOK_MS: '' };
  const victim = await bench.host(real);
  const id = await bench.enqueue({ world: bench.world.url, killAt: 6 });
  await victim.exited;
  const killedAt = Date.now();
  await bench.host(real);
  await bench.until(id, (row) => row.epoch === 2);
  const waited = Date.now() - killedAt;
  assert.ok(waited < 15_000, `resumed after ${waited} ms`);
  assert.equal((await bench.ended(id)).state, 'succeeded');
});

test('cancelled while it runs, it stops, undoes everything, and only then is cancelled', async (t) => {
  const bench = await OperationBench.open(t);
  await bench.host();
  const id = await bench.enqueue({ world: bench.world.url, hangAt: 'step-4' });
  await bench.until(id, () => bench.world.actsOf(id).length === 4);
  await cancelOperation(bench.db, noKinds, bench.workspaceId, id);
  const row = await bench.ended(id);
  assert.equal(row.state, 'cancelled');
  assert.equal(row.fault, null);
  assert.deepEqual(bench.world.actsOf(id), []);
  await assert.rejects(cancelOperation(bench.db, noKinds, bench.workspaceId, id), {
    code: 'already_finished',
  });
  await bench.nothingLeft();
});

test('cancelled before it begins, it never does; asked three times at once, it is cancelled once', async (t) => {
  const bench = await OperationBench.open(t);
  const early = await bench.enqueue({ world: bench.world.url });
  await cancelOperation(bench.db, noKinds, bench.workspaceId, early);
  assert.equal((await bench.row(early)).state, 'cancelled');
  await bench.host();
  const id = await bench.enqueue({ world: bench.world.url, hangAt: 'step-1' });
  await bench.until(id, () => bench.world.actsOf(id).length === 1);
  await Promise.all([1, 2, 3].map(() => cancelOperation(bench.db, noKinds, bench.workspaceId, id)));
  assert.equal((await bench.ended(id)).state, 'cancelled');
  assert.deepEqual(bench.world.actsOf(early), []);
});

test('a terminal state is final, whoever writes', async (t) => {
  const bench = await OperationBench.open(t);
  await bench.host();
  const id = await bench.enqueue({ world: bench.world.url });
  await bench.ended(id);
  await assert.rejects(
    bench.db.raw(`update operations set state = 'failed' where id = '${id}'`),
    /has ended as succeeded/,
  );
});
