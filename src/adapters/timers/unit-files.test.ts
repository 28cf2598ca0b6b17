import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf } from '../../../test/support/faults.ts';
import { type EnvironmentId, newId } from '../../ids.ts';
import { unitFilesOf } from './unit-files.ts';

const owner = newId<EnvironmentId>();
const good = { name: 'web-cron', calendar: ['*-*-* *:00:00 UTC'], container: 'slipway-a-cron-0' };

test('a timer names its owner, starts one container with a fixed command, and catches up on nothing', () => {
  const [, second] = unitFilesOf(owner, [
    good,
    { ...good, calendar: ['*-*-13 12:00:00 UTC', 'Fri *-*-* 12:00:00 UTC'] },
  ]);
  assert.equal(second?.unit, `slipway-cron-${owner}-1`);
  for (const file of [second?.timer ?? '', second?.service ?? ''])
    assert.ok(file.startsWith(`# slipway: cron\n# slipway.environment: ${owner}\n`), file);
  assert.match(
    second?.timer ?? '',
    /\nOnCalendar=\*-\*-13 12:00:00 UTC\nOnCalendar=Fri \*-\*-\* 12:00:00 UTC\n/,
  );
  assert.match(second?.timer ?? '', /\nPersistent=false\n/);
  assert.match(second?.timer ?? '', new RegExp(`\\nUnit=slipway-cron-${owner}-1\\.service\\n`));
  assert.match(second?.service ?? '', /\nExecStart=docker start --attach slipway-a-cron-0\n/);
});

test('nothing that a unit file would read as more than a word gets in', async () => {
  const hostile = [
    '',
    'a\nExecStart=id',
    'a b',
    '%n',
    '$HOME',
    'a;b',
    '"',
    '\\',
    'é',
    '-a',
    '../a',
    'slipway-',
  ];
  const inputs = [
    ...hostile.filter((each) => each !== 'slipway-').map((name) => ({ ...good, name })),
    ...[...hostile, 'other'].map((container) => ({ ...good, container })),
    ...['', 'a\nb', '%n', '$x', 'a;b', '"*"'].map((each) => ({ ...good, calendar: [each] })),
    { ...good, calendar: [] },
  ];
  for (const input of inputs)
    assert.equal(
      (await faultOf(() => unitFilesOf(owner, [input]))).code,
      'invalid_input',
      JSON.stringify(input),
    );
  assert.equal((await faultOf(() => unitFilesOf('../x' as EnvironmentId, []))).code, 'invalid_input');
});
