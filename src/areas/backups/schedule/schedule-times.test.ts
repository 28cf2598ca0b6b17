import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf } from '../../../../test/support/faults.ts';
import { checkSchedule, jitterSeconds, nextRun, nextTime, runsBetween } from './schedule-times.ts';

/** As a schedule does it: each time asked from the one before. */
function times(cron: string, timezone: string, from: string, count: number): string[] {
  const found: string[] = [];
  let at = new Date(from);
  for (let index = 0; index < count; index += 1) {
    at = nextTime({ cron, timezone }, at);
    found.push(at.toISOString().slice(0, 16));
  }
  return found;
}

const changes = [
  {
    what: 'a run in the hour that is missing in Berlin happens once, right after it',
    cron: '30 2 * * *',
    timezone: 'Europe/Berlin',
    from: '2026-03-28T12:00:00Z',
    expected: ['2026-03-29T01:30', '2026-03-30T00:30'],
  },
  {
    what: 'a run in the doubled hour in Berlin happens once, in the first of the two',
    cron: '30 2 * * *',
    timezone: 'Europe/Berlin',
    from: '2026-10-24T12:00:00Z',
    expected: ['2026-10-25T00:30', '2026-10-26T01:30'],
  },
  {
    what: 'a run in the hour that is missing in New York happens once, right after it',
    cron: '30 2 * * *',
    timezone: 'America/New_York',
    from: '2026-03-07T12:00:00Z',
    expected: ['2026-03-08T07:30', '2026-03-09T06:30'],
  },
  {
    what: 'a run in the doubled hour in New York happens once, in the first of the two',
    cron: '30 1 * * *',
    timezone: 'America/New_York',
    from: '2026-10-31T12:00:00Z',
    expected: ['2026-11-01T05:30', '2026-11-02T06:30'],
  },
  {
    what: 'an hourly schedule keeps its hour through both changes',
    cron: '0 * * * *',
    timezone: 'Europe/Berlin',
    from: '2026-10-24T23:30:00Z',
    expected: ['2026-10-25T00:00', '2026-10-25T01:00', '2026-10-25T02:00'],
  },
  {
    what: 'a daily schedule stays at its hour of the clock',
    cron: '0 3 * * *',
    timezone: 'Europe/Berlin',
    from: '2026-03-28T00:00:00Z',
    expected: ['2026-03-28T02:00', '2026-03-29T01:00', '2026-03-30T01:00'],
  },
];

for (const { what, cron, timezone, from, expected } of changes) {
  test(what, () => assert.deepEqual(times(cron, timezone, from, expected.length), expected));
}

test('each environment is late by its own few minutes, always the same, and no run is lost or doubled by it', () => {
  const schedule = { cron: '*/15 * * * *', timezone: 'UTC' };
  const delays = new Set<number>();
  for (let index = 0; index < 50; index += 1) {
    const id = `environment-${index}`;
    delays.add(jitterSeconds(id));
    let at = new Date('2026-01-01T00:00:00Z');
    for (let run = 1; run <= 8; run += 1) {
      const next = nextRun(schedule, id, at);
      assert.ok(next > at, 'time goes on');
      const plain = next.getTime() - jitterSeconds(id) * 1_000;
      assert.equal(plain % (15 * 60_000), 0, 'it belongs to a time of the schedule');
      if (run > 1) assert.equal(next.getTime() - at.getTime(), 15 * 60_000);
      at = next;
    }
  }
  assert.ok(delays.size > 30 && Math.max(...delays) < 300 && Math.min(...delays) >= 0);
});

test('runs that fell into a time are counted', () => {
  const schedule = { cron: '0 3 * * *', timezone: 'UTC' };
  const count = (from: string, to: string) => runsBetween(schedule, new Date(from), new Date(to));
  assert.equal(count('2026-05-01T03:00:00Z', '2026-05-01T10:00:00Z'), 0);
  assert.equal(count('2026-05-01T03:00:00Z', '2026-05-04T10:00:00Z'), 3);
});

test('a step of all days beside weekdays means both, as on servers; two restricted days mean either', () => {
  assert.deepEqual(times('0 12 */15 * fri', 'UTC', '2026-01-01T13:00:00Z', 2), [
    '2026-01-16T12:00',
    '2026-05-01T12:00',
  ]);
  assert.deepEqual(times('0 12 16 * fri', 'UTC', '2026-01-01T13:00:00Z', 3), [
    '2026-01-02T12:00',
    '2026-01-09T12:00',
    '2026-01-16T12:00',
  ]);
});

test('a schedule that was stored when the last day of a month could be named goes on', () => {
  assert.deepEqual(times('0 3 L * *', 'UTC', '2026-02-01T00:00:00Z', 1), ['2026-02-28T03:00']);
});

test('schedules that can be kept are taken', () => {
  for (const cron of [
    '30 3 * * *',
    '*/15 * * * *',
    '0 */6 * * *',
    '0 3 * * 1-5',
    '0 3 1 * *',
    '0 3 * * MON,THU',
    '0 3,3-5 * * *',
    '@daily',
    '0,55 0,23 1 * *',
  ])
    checkSchedule({ cron, timezone: 'Europe/Berlin' });
});

const wrong: readonly (readonly [cron: string, timezone: string, path: string, message: RegExp])[] = [
  ['* * * * *', 'UTC', 'cron', /every 15 minutes/],
  ['*/10 * * * *', 'UTC', 'cron', /every 15 minutes/],
  ['0,5 3 1 * *', 'UTC', 'cron', /every 15 minutes/],
  ['0,55 3,4 * * *', 'UTC', 'cron', /every 15 minutes/],
  ['0,55 0,23 1,2 * *', 'UTC', 'cron', /every 15 minutes/],
  ['59 3 * * *,0 4 * * *', 'UTC', 'cron', /instead of five/],
  ['0 3 31 2 *', 'UTC', 'cron', /none of its months has one of its days/],
  ['61 3 * * *', 'UTC', 'cron', /«minute», «61»/],
  ['0 3 * * *', 'Europe/Atlantis', 'timezone', /time zone/],
  ['0 3 * * *', '+02:00', 'timezone', /time zone/],
];

for (const [cron, timezone, path, message] of wrong) {
  test(`«${cron}» in ${timezone} is refused at ${path}`, async () => {
    const fault = await faultOf(() => checkSchedule({ cron, timezone }));
    assert.equal(fault.code, 'invalid_input');
    assert.equal(fault.errors?.[0]?.path, path);
    assert.match(fault.errors?.[0]?.message ?? '', message);
  });
}
