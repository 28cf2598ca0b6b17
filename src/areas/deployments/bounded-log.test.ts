import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { migratedDatabase, newWorkspace } from '../../../test/support/database.ts';
import { appendEvents } from '../../events/events.ts';
import { type DeploymentId, newId, type OperationId } from '../../ids.ts';
import { withBoundedLog } from './bounded-log.ts';

/** A deployment whose steps print; what is left of it in the log. */
async function deployment(t: TestContext) {
  const { db } = await migratedDatabase(t);
  const workspaceId = await newWorkspace(db);
  const deploymentId = newId<DeploymentId>();
  const store = (lines: readonly string[]) =>
    appendEvents(
      db,
      { workspaceId, feedId: deploymentId },
      lines.map((line) => ({ kind: 'log', data: { step: 'build', line } })),
    );
  const print = async (lines: Iterable<string>): Promise<string[]> => {
    const told: string[] = [];
    const step = {
      operationId: newId<OperationId>(),
      workspaceId,
      epoch: 1,
      attempt: 1,
      outputs: new Map(),
      signal: t.signal,
      log: (line: string) => void told.push(line),
      progress: () => undefined,
    };
    await withBoundedLog(db, { deploymentId }, step, async ({ log }) => {
      for (const line of lines) log(line);
    });
    return told;
  };
  return { print, store };
}

/** What PostgreSQL cannot make smaller. */
const noise = randomBytes(6_000).toString('base64');

function* numbered(count: number, size = 0) {
  for (let at = 1; at <= count; at += 1) yield `${at} ${'x'.repeat(size)}`.trim();
}

test('whoever prints without end fills our database neither by lines nor by bytes, and its first and last lines are there', async (t) => {
  const { print } = await deployment(t);
  assert.deepEqual(
    await print(numbered(10_000)),
    [...numbered(10_000)],
    'what is short enough is told as it is',
  );

  const many = await print(numbered(1_000_000));
  assert.equal(many.length, 11_002);
  assert.deepEqual([many[0], many[9_999], many.at(-1)], ['1', '10000', '1000000']);
  assert.match(many[10_000] ?? '', /^\[Slipway: the log of this step is full/);
  assert.match(many[10_001] ?? '', /^\[Slipway: 989000 lines, \d+ characters were left out here\]$/);

  for (const [count, size] of [
    [10_000, 5_000],
    [100, 5_000_000],
  ] as const) {
    const large = await print(numbered(count, size));
    const characters = large.reduce((sum, line) => sum + line.length, 0);
    assert.ok(characters < 1.2 * 1024 * 1024, String(characters));
    assert.match(large.at(-1) ?? '', new RegExp(`^${count} x`));
  }
});

test('whoever has a deployment taken up again and again adds only a few lines once its log is full', async (t) => {
  for (const full of [Array<string>(30_001).fill('x'), Array<string>(1_100).fill(noise)]) {
    const { print, store } = await deployment(t);
    await store(full);
    const told = await print(numbered(500));
    assert.equal(told.length, 22);
    assert.equal(told.at(-1), '500');
  }
});
