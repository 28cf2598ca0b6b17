/** Deployments that are killed at chosen writes of their journal, under load, on a ground of their own. */
import assert from 'node:assert/strict';
import { after, type TestContext } from 'node:test';
import { Ground } from '../faults/ground.ts';
import type { Point } from '../faults/orders.ts';
import { Rounds } from '../faults/rounds.ts';
import { isOfRows, type Trial } from '../faults/trials.ts';
import type { TestLab } from './lab.ts';
import { createTestDatabase } from './postgres.ts';

/**
 * At each write once, from the side where most is at stake: when work has been begun, and when it is done but nobody has
 * written that down. Steps of rows are in the one write of what ends before them and what begins after them, and a step that is
 * killed at each of them would be killed more often than any is: they have no points of their own. The campaign tries both sides.
 */
export function pointsOf(entries: readonly string[]): Point[] {
  return entries.flatMap((entry, index): Point[] => {
    const after: Point = { moment: 'after', entry };
    const before: Point = { moment: 'before', entry };
    if (index === entries.length - 1) return [before, after];
    if (isOfRows(entry)) return [];
    return entry.endsWith(' running') || entry.endsWith(' undoing') ? [after] : [before];
  });
}

export type RunTrial = (t: TestContext, trial: Trial, end: string) => Promise<void>;

/** One ground for all trials of a file: what one leaves behind would be in the next one's way, and is meant to be. */
export async function openKills(lab: TestLab): Promise<RunTrial> {
  const databaseUrl = await createTestDatabase();
  const ground = await Ground.open(lab.client, lab.about, databaseUrl, { leaseMs: 2_000 });
  const rounds = new Rounds(ground);
  after(async () => {
    rounds.endNow();
    await ground.close();
  });
  let count = 0;
  return async (t, trial, end) => {
    count += 1;
    const round = await rounds.run(trial, `kills-${count}`);
    assert.equal(round.end, end, round.what);
    t.diagnostic(`${round.end} after ${round.ms} ms, ${round.answered} requests answered`);
  };
}
