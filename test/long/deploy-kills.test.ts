import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entriesOf } from '../faults/trials.ts';
import { openKills, pointsOf } from '../support/deploy-kills.ts';
import { openLab } from '../support/lab.ts';

const run = await openKills(await openLab());

test('killed under load at each write of its journal, a deployment is ended by whoever is left and loses no request', async (t) => {
  const course = { kind: 'deploy' } as const;
  const points = pointsOf(entriesOf(course));
  assert.ok(points.length > 21);
  await run(t, { course, trouble: { kind: 'kill', points } }, 'succeeded');
});

test('killed under load at each write of its undoing, a cancelled one leaves nothing behind', async (t) => {
  const course = { kind: 'cancel', at: 'switch' } as const;
  const entries = entriesOf(course);
  const points = pointsOf(entries.slice(entries.indexOf('turn cancelled')));
  assert.ok(points.length > 12);
  await run(t, { course, trouble: { kind: 'kill', points } }, 'cancelled');
});

test('a network that is away for ten seconds in the build is waited for', async (t) => {
  const at = { moment: 'after', entry: 'build running' } as const;
  const trouble = { kind: 'cut', at, afterMs: 300, forMs: 10_000 } as const;
  await run(t, { course: { kind: 'deploy' }, trouble }, 'succeeded');
});

test('a worker that wakes after its lease and after another deployment changes nothing', async (t) => {
  const at = { moment: 'after', entry: 'promote running' } as const;
  await run(t, { course: { kind: 'redeploy' }, trouble: { kind: 'stall', at, goesOn: true } }, 'succeeded');
});
