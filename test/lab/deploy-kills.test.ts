import assert from 'node:assert/strict';
import { test } from 'node:test';
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

test('deployments under load stand whatever happens to the service in between, and lose no request', async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.drop());
  const ground = await Ground.open(lab.client, lab.about, database.url, { leaseMs: 2_000 });
  t.after(() => ground.close());
  const rounds = new Rounds(ground);
  t.after(() => rounds.endNow());
  let count = 0;
  const run = async (trial: Trial, end: string) => {
    count += 1;
    const round = await rounds.run(trial, `kills-${count}`);
    assert.equal(round.end, end, round.what);
    t.diagnostic(`${round.end} after ${round.ms} ms, ${round.answered} requests answered`);
  };

  await t.test('killed at each write of its journal, a deployment is ended by whoever is left', async () => {
    const course = { kind: 'deploy' } as const;
    const points = pointsOf(entriesOf(course));
    assert.ok(points.length > 30);
    await run({ course, trouble: { kind: 'kill', points } }, 'succeeded');
  });

  await t.test('killed at each write of its undoing, a cancelled one leaves nothing behind', async () => {
    const course = { kind: 'cancel', at: 'point' } as const;
    const entries = entriesOf(course);
    const points = pointsOf(entries.slice(entries.indexOf('turn cancelled')));
    assert.ok(points.length > 15);
    await run({ course, trouble: { kind: 'kill', points } }, 'cancelled');
  });

  await t.test('a network that is away for ten seconds in the build is waited for', async () => {
    const at = { moment: 'after', entry: 'build running' } as const;
    await run(
      { course: { kind: 'deploy' }, trouble: { kind: 'cut', at, afterMs: 300, forMs: 10_000 } },
      'succeeded',
    );
  });

  await t.test('a worker that wakes after its lease and another deployment changes nothing', async () => {
    const at = { moment: 'after', entry: 'point running' } as const;
    await run({ course: { kind: 'redeploy' }, trouble: { kind: 'stall', at, goesOn: true } }, 'succeeded');
  });
});
