import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf } from '../../../test/support/faults.ts';
import { type EnvironmentId, newId } from '../../ids.ts';
import { unitFilesOf } from './unit-files.ts';

const owner = newId<EnvironmentId>();
const good = { name: 'web-cron', calendar: ['*-*-* *:00:00 UTC'], starts: { container: 'slipway-a-cron-0' } };

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
    ...[...hostile, 'other'].map((container) => ({ ...good, starts: { container } })),
    ...[...hostile, 'other'].map((swarmService) => ({ ...good, starts: { swarmService } })),
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

test('a service of a swarm is given a task in the minutes of its calendar, by words that systemd reads as they are', () => {
  const calendar = ['*-01,07-13 12:00,30:00 UTC', 'Mon,Fri *-*-* 03:05:00 UTC'];
  const [files] = unitFilesOf(owner, [{ ...good, calendar, starts: { swarmService: 'slipway-a-cron-0' } }]);
  const [line = ''] = (files?.service ?? '').match(/^ExecStart=.*$/m) ?? [];
  assert.match(line, /^ExecStart=\/bin\/sh -uc '[^']+' slipway-cron slipway-a-cron-0 "[^"]+"$/);
  assert.match(line, /--container-label-add "slipway\.tick=\$\$tick" --replicas 1 "\$\$1" && exit 0/);
  // A sign that stands alone would be a variable or a specifier of systemd's own.
  assert.doesNotMatch(line.replaceAll('$$', '').replaceAll('%%', ''), /[$%]/);
  const minutes = new RegExp(`^(?:${line.slice(line.lastIndexOf(' "') + 2, -1)})$`);
  for (const good of ['Tue 07-13 12:30', 'Mon 11-16 03:05', 'Fri 01-13 12:00']) assert.match(good, minutes);
  for (const bad of ['Tue 07-13 12:31', 'Tue 11-17 03:05', 'Mon 11-16 03:06', 'Tue 02-13 12:00'])
    assert.doesNotMatch(bad, minutes);
});
