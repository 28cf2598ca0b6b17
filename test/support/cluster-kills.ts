/** Work on a cluster that is killed at the writes of its journal, with visitors at its proxies. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ServerDescription } from '../../lab/description.ts';
import type { Ground } from '../faults/ground.ts';
import { cause, order } from '../faults/troubles.ts';
import { Crowd } from './crowd.ts';
import { pointsOf } from './deploy-kills.ts';
import { until } from './until.ts';

export interface KilledWork {
  /** The writes at which whoever makes them is killed. */
  readonly entries: readonly string[];
  /** Whose proxies are visited meanwhile: there no request may fail. */
  readonly visited: readonly ServerDescription[];
  /** Returns its id. */
  begin(): Promise<string>;
  /** It is asked to stop when that step has begun. */
  readonly cancel?: { readonly at: string; ask(id: string): Promise<unknown> };
  /** How it ended. */
  ended(id: string): Promise<string>;
  /** What is not as it should be afterwards. */
  wrongs(): Promise<readonly string[]>;
}

export async function killedAt(t: TestContext, ground: Ground, work: KilledWork): Promise<string> {
  const points = pointsOf(work.entries);
  const trouble = { kind: 'kill', points } as const;
  const { port } = new URL(ground.url);
  const crowd = new Crowd(work.visited.map(({ address }) => `http://${address}:${port}/`));
  t.after(() => crowd.end());
  // What clears up after the work before has writes of the same names.
  await ground.quiet(120_000);
  ground.orders.clear();
  order(ground, trouble);
  const waiting = work.cancel && ({ moment: 'after', entry: `${work.cancel.at} running` } as const);
  if (waiting) ground.orders.give(waiting, 'wait');
  const id = await work.begin();
  if (waiting) {
    await ground.orders.met(waiting, 300_000);
    await asked(ground, work.cancel?.ask(id));
    ground.orders.letGo(waiting);
  }
  await cause({ ground, database: undefined, deploymentId: id }, trouble);
  const end = await work.ended(id);
  await ground.revive();
  await ground.quiet(120_000);
  let found: readonly string[] = [];
  await until(
    async () => {
      found = await work.wrongs();
      return found.length === 0;
    },
    async () => `every server to be as it should: ${found.join('; ')}`,
  );
  await crowd.end();
  assert.deepEqual(crowd.failures, []);
  t.diagnostic(`${points.length} kills, ${crowd.answered} requests answered by the proxies, none lost`);
  return end;
}

/**
 * One waits at a write and answers nobody. The other takes its work over when the lease has passed, and may come to be killed before
 * it has answered: somebody has to be there.
 */
async function asked(ground: Ground, asking: Promise<unknown> = Promise.resolve()): Promise<void> {
  let isAnswered = false;
  const answered = asking.finally(() => {
    isAnswered = true;
  });
  await Promise.all([answered, until(async () => ground.revive().then(() => isAnswered), 'an answer')]);
}
