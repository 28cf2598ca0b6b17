import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entriesOf } from '../faults/trials.ts';
import { openKills, pointsOf } from '../support/deploy-kills.ts';
import { openLab } from '../support/lab.ts';

const run = await openKills(await openLab());

test('killed under load at writes of its journal, a deployment is ended by whoever is left and loses no request', async (t) => {
  const course = { kind: 'deploy' } as const;
  // Every single one is tried by test/long/deploy-kills.test.ts.
  const points = pointsOf(entriesOf(course)).filter((_, index) => index % 16 === 1);
  assert.ok(points.length > 1);
  await run(t, { course, trouble: { kind: 'kill', points } }, 'succeeded');
});
