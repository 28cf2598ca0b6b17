import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, type ServerId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import { newWorkspace, OperationBench, setOperationLimit } from '../support/operations.ts';
import { stepNames } from '../support/ten-steps.ts';
import { until } from '../support/until.ts';

const allOnce = stepNames.map((name) => [name, 1]);

// One process of the service for all of them: each operation has its own effects in the world.
test('the course of an operation', async (all) => {
  const bench = await OperationBench.open(all);
  await bench.host();

  await all.test('it runs its steps in order, each effect once, and leaves no lease and no job', async () => {
    const id = await bench.enqueue({ world: bench.world.url });
    assert.equal((await bench.ended(id)).state, 'succeeded');
    assert.deepEqual(bench.world.actsOf(id), allOnce);
    await bench.nothingLeft();
  });

  await all.test(
    'failed at each step in turn, it undoes all that began, and says where and why',
    async () => {
      for (const [place, name] of stepNames.entries()) {
        const id = await bench.enqueue({ world: bench.world.url, failAt: name });
        const row = await bench.ended(id);
        assert.equal(row.state, 'failed', name);
        assert.equal(row.fault?.code, 'bad_request');
        assert.equal(row.fault?.step, name);
        assert.equal(row.fault?.evidence, 'the plan');
        assert.deepEqual(bench.world.actsOf(id), []);
        const undone = bench.world.undone.filter((key) => key.startsWith(id)).map((key) => key.split('/')[1]);
        assert.deepEqual(undone, stepNames.slice(0, place + 1).reverse(), 'the last one first');
      }
      await bench.nothingLeft();
    },
  );

  await all.test('with each step run twice, each effect still happens once', async () => {
    const id = await bench.enqueue({ world: bench.world.url, twice: true });
    assert.equal((await bench.ended(id)).state, 'succeeded');
    assert.deepEqual(bench.world.actsOf(id), allOnce);
  });

  await all.test('a step that may be tried again is, after a pause in which it holds no lease', async () => {
    const works = await bench.enqueue({ world: bench.world.url, failAt: 'step-4', failures: 2 });
    assert.equal((await bench.ended(works)).state, 'succeeded');
    const step = await bench.db.one<{ attempt: number }>(sql`
      select attempt from operation_steps where operation_id = ${works} and name = 'step-4'`);
    assert.equal(step?.attempt, 3);
    const tooOften = await bench.enqueue({ world: bench.world.url, failAt: 'step-4', failures: 3 });
    const row = await bench.ended(tooOften);
    assert.equal(row.state, 'failed');
    assert.equal(row.fault?.code, 'internal_error');
    assert.deepEqual(bench.world.actsOf(tooOften), []);
  });

  await all.test('a step over its deadline is stopped and undone', async () => {
    const id = await bench.enqueue({ world: bench.world.url, hangAt: 'step-3' });
    const row = await bench.ended(id);
    assert.equal(row.state, 'failed');
    assert.equal(row.fault?.code, 'deadline_exceeded');
    assert.deepEqual(bench.world.actsOf(id), []);
  });

  await all.test('what cannot be undone is told, and keeps nothing else from being undone', async () => {
    const id = await bench.enqueue({ world: bench.world.url, failAt: 'step-5', stuckAt: 'step-2' });
    const row = await bench.ended(id);
    assert.equal(row.state, 'failed');
    assert.equal(row.fault?.code, 'undo_failed');
    assert.match(row.fault?.evidence ?? '', /step-2: stuck as planned/);
    assert.deepEqual(bench.world.actsOf(id), [['step-2', 1]]);
  });

  await all.test(
    'an input that its kind cannot read ends the operation instead of coming back forever',
    async () => {
      const row = await bench.ended(await bench.enqueue({ nonsense: true }));
      assert.equal(row.state, 'failed');
      assert.equal(row.fault?.code, 'invalid_input');
    },
  );

  await all.test('a terminal state is final, whoever writes', async () => {
    const id = await bench.enqueue({ world: bench.world.url });
    await bench.ended(id);
    await assert.rejects(
      bench.db.raw(`update operations set state = 'failed' where id = '${id}'`),
      /has ended as succeeded/,
    );
  });

  await all.test('limits per workspace and per server hold, and change while work runs', async () => {
    const other = await newWorkspace(bench.db);
    const serverId = newId<ServerId>();
    await setOperationLimit(bench.db, 'workspace', bench.workspaceId, 1);
    await setOperationLimit(bench.db, 'server', serverId, 0);
    await bench.host();
    const input = { world: bench.world.url, stepMs: 60 };
    const own = [await bench.enqueue(input), await bench.enqueue(input), await bench.enqueue(input)];
    const onServer = await bench.enqueue(input, { workspaceId: other, serverId });
    let most = 0;
    await until(async () => {
      const row = await bench.db.one<{ held: number; open: number }>(sql`
        select count(*) filter (where lease_until > now())::int as held, count(*)::int as open
        from operations where workspace_id = ${bench.workspaceId} and finished_at is null`);
      most = Math.max(most, row?.held ?? 0);
      return row?.open === 0;
    }, 'its operations to end');
    assert.equal(most, 1, 'one at a time');
    for (const id of own) assert.equal((await bench.row(id)).state, 'succeeded');
    assert.equal((await bench.row(onServer)).state, 'queued', 'the server takes none');
    await setOperationLimit(bench.db, 'server', serverId, 1);
    assert.equal((await bench.ended(onServer)).state, 'succeeded');
  });
});
