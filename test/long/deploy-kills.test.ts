import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entriesOf } from '../faults/trials.ts';
import { openKills, pointsOf } from '../support/deploy-kills.ts';
import { openLab } from '../support/lab.ts';

const run = await openKills(await openLab());

test('killed under load at each write of its undoing, a cancelled one leaves nothing behind', async (t) => {
  const course = { kind: 'cancel', at: 'point' } as const;
  const entries = entriesOf(course);
  const points = pointsOf(entries.slice(entries.indexOf('turn cancelled')));
  assert.ok(points.length > 15);
  await run(t, { course, trouble: { kind: 'kill', points } }, 'cancelled');
});
