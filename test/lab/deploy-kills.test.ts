import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { Ground } from '../faults/ground.ts';
import type { Point } from '../faults/orders.ts';
import { Rounds } from '../faults/rounds.ts';
import { entriesOf, type Trial } from '../faults/trials.ts';
import { openLab } from '../support/lab.ts';
import { createTestDatabase } from '../support/postgres.ts';

const lab = await openLab();

/** Steps that have nothing to do for the sample: there is one moment in them, not three. */
const idle = new Set(['services', 'release', 'processes']);

/**
 * At each write once, from the side where most is at stake: when work has been begun, and when it is done but nobody has
 * written that down. The campaign tries both sides of all.
 */
function pointsOf(entries: readonly string[]): Point[] {
  return entries.flatMap((entry, index): Point[] => {
    const [name = '', how = ''] = entry.split(' ');
    const isEnd = how === 'done' || how === 'undone';
    if (idle.has(name) && isEnd) return [];
    const after: Point = { moment: 'after', entry };
    const before: Point = { moment: 'before', entry };
    if (index === 0 || index === entries.length - 1) return [before, after];
    return isEnd ? [before] : [after];
  });
}

/** One ground for all: what a trial leaves behind would be in the next one's way, and is meant to be. */
const database = await createTestDatabase();
const ground = await Ground.open(lab.client, lab.about, database.url, { leaseMs: 2_000 });
const rounds = new Rounds(ground);
after(async () => {
  rounds.endNow();
  await ground.close();
  await database.drop();
});

let count = 0;
async function run(t: TestContext, trial: Trial, end: string): Promise<void> {
  count += 1;
  const round = await rounds.run(trial, `kills-${count}`);
  assert.equal(round.end, end, round.what);
  t.diagnostic(`${round.end} after ${round.ms} ms, ${round.answered} requests answered`);
}

test('killed under load at each write of its journal, a deployment is ended by whoever is left and loses no request', async (t) => {
  const course = { kind: 'deploy' } as const;
  const points = pointsOf(entriesOf(course));
  assert.ok(points.length > 30);
  await run(t, { course, trouble: { kind: 'kill', points } }, 'succeeded');
});

test('killed under load at each write of its undoing, a cancelled one leaves nothing behind', async (t) => {
  const course = { kind: 'cancel', at: 'point' } as const;
  const entries = entriesOf(course);
  const points = pointsOf(entries.slice(entries.indexOf('turn cancelled')));
  assert.ok(points.length > 15);
  await run(t, { course, trouble: { kind: 'kill', points } }, 'cancelled');
});

test('a network that is away for ten seconds in the build is waited for', async (t) => {
  const at = { moment: 'after', entry: 'build running' } as const;
  const trouble = { kind: 'cut', at, afterMs: 300, forMs: 10_000 } as const;
  await run(t, { course: { kind: 'deploy' }, trouble }, 'succeeded');
});

test('a worker that wakes after its lease and after another deployment changes nothing', async (t) => {
  const at = { moment: 'after', entry: 'point running' } as const;
  await run(t, { course: { kind: 'redeploy' }, trouble: { kind: 'stall', at, goesOn: true } }, 'succeeded');
});
