import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, type WorkspaceId } from './ids.ts';
import { sideBySide } from './side-by-side.ts';

const rowsOf = (count: number) => {
  const workspaceId = newId<WorkspaceId>();
  return Array.from({ length: count }, (_, at) => ({ workspaceId, at }));
};

test('whoever has a thousand things that never answer keeps nobody else waiting', async () => {
  const [hostile, honest, another] = [rowsOf(1_000), rowsOf(3), rowsOf(1)];
  const [hanging] = hostile;
  const done: object[] = [];
  let [begun, most, running] = [0, 0, 0];
  const release = Promise.withResolvers<void>();
  await sideBySide(
    [...hostile, ...honest, ...another],
    { atOnce: 5, ofOne: 2, withinMs: 50 },
    async (row) => {
      running += 1;
      most = Math.max(most, running);
      if (row.workspaceId === hanging?.workspaceId) {
        begun += 1;
        await release.promise;
      } else {
        done.push(row);
        // All of the others were served while the first ones still hang; those now give up.
        if (done.length === 4) AbortSignal.timeout(100).addEventListener('abort', () => release.resolve());
      }
      running -= 1;
    },
  );
  assert.deepEqual(new Set(done), new Set([...honest, ...another]));
  assert.equal(begun, 2, 'and what was not begun in its time is left out');
  assert.ok(most <= 5, `${most} at once`);
});

test('all of it is done, and what fails is told once everything has ended', async () => {
  const rows = [...rowsOf(7), ...rowsOf(1), ...rowsOf(4)];
  const seen: number[] = [];
  const failing = sideBySide(rows, { atOnce: 3, ofOne: 2, withinMs: 60_000 }, async ({ at }) => {
    await Promise.resolve();
    seen.push(at);
    if (at === 0) throw new Error(`failure ${seen.length}`);
  });
  await assert.rejects(failing, /failure 1$/);
  assert.equal(seen.length, rows.length);
  await sideBySide([], { atOnce: 3, ofOne: 2, withinMs: 1 }, async () => assert.fail());
});
