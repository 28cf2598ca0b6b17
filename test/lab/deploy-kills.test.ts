import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entriesOf } from '../faults/trials.ts';
import { openKills, pointsOf } from '../support/deploy-kills.ts';
import { openLab } from '../support/lab.ts';

const run = await openKills(await openLab());

test('killed under load at writes of its journal, a deployment is ended by whoever is left and loses no request', async (t) => {
  const course = { kind: 'deploy' } as const;
  // Every single one is tried by test/long/deploy-kills.test.ts.
  const points = pointsOf(entriesOf(course)).filter((_, index) => index % 4 === 1);
  assert.ok(points.length > 7);
  await run(t, { course, trouble: { kind: 'kill', points } }, 'succeeded');
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
