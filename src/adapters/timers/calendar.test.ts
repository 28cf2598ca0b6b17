import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf } from '../../../test/support/faults.ts';
import { calendarOf } from './calendar.ts';

const same: readonly (readonly [cron: string, calendar: readonly string[]])[] = [
  ['* * * * *', ['*-*-* *:*:00 UTC']],
  ['  0  3 \t* * * ', ['*-*-* 03:00:00 UTC']],
  [
    '*/15 8-18 * * mon-fri',
    ['Mon,Tue,Wed,Thu,Fri *-*-* 08,09,10,11,12,13,14,15,16,17,18:00,15,30,45:00 UTC'],
  ],
  ['5,1,3-4 0 * * *', ['*-*-* 00:01,03,04,05:00 UTC']],
  ['0 10-20/5 * * *', ['*-*-* 10,15,20:00:00 UTC']],
  ['50/5 0 * * *', ['*-*-* 00:50,55:00 UTC']],
  ['0 0 * JAN,jul *', ['*-01,07-* 00:00:00 UTC']],
  ['0 0 * * 7', ['Sun *-*-* 00:00:00 UTC']],
  ['0 0 * * 0', ['Sun *-*-* 00:00:00 UTC']],
  ['0 0 * * 5-7', ['Sun,Fri,Sat *-*-* 00:00:00 UTC']],
  ['0 0 * * 0-7', ['*-*-* 00:00:00 UTC']],
  ['0 0 * * */2', ['Sun,Tue,Thu,Sat *-*-* 00:00:00 UTC']],
  ['0-59 0-23 * 1-12 *', ['*-*-* *:*:00 UTC']],
  ['@daily', ['*-*-* 00:00:00 UTC']],
  ['@Midnight', ['*-*-* 00:00:00 UTC']],
  ['@hourly', ['*-*-* *:00:00 UTC']],
  ['@weekly', ['Sun *-*-* 00:00:00 UTC']],
  ['@monthly', ['*-*-01 00:00:00 UTC']],
  ['@yearly', ['*-01-01 00:00:00 UTC']],
  ['@annually', ['*-01-01 00:00:00 UTC']],
  ['0 0 29 2 *', ['*-02-29 00:00:00 UTC']],
  ['*/20,20,15-25/5 0 * * *', ['*-*-* 00:00,15,20,25,40:00 UTC']],
];

for (const [cron, calendar] of same) {
  test(`«${cron}» is ${calendar.join(' and ')}`, () => {
    assert.deepEqual(calendarOf(cron), calendar);
  });
}

test('two restricted days mean either of them; a star, also one with a step, means both', () => {
  assert.deepEqual(calendarOf('0 12 13 * fri'), ['*-*-13 12:00:00 UTC', 'Fri *-*-* 12:00:00 UTC']);
  assert.deepEqual(calendarOf('0 12 */15 * fri'), ['Fri *-*-01,16,31 12:00:00 UTC']);
  assert.deepEqual(calendarOf('0 12 13 * *'), ['*-*-13 12:00:00 UTC']);
});

test('a day that no month has is left out beside a weekday, and refused alone', async () => {
  assert.deepEqual(calendarOf('0 0 30 2 1'), ['Mon *-02-* 00:00:00 UTC']);
  for (const cron of ['0 0 30 2 *', '0 0 31 4,6,9,11 *']) {
    const fault = await faultOf(() => calendarOf(cron));
    assert.match(fault.message, /none of its months has one of its days/);
  }
});

const wrong: readonly (readonly [cron: string, says: RegExp])[] = [
  ['', /1 fields instead of five/],
  ['* * * *', /4 fields/],
  ['* * * * * *', /6 fields/],
  ['60 * * * *', /«minute», «60».*0-59/],
  ['0,60 * * * *', /«minute», «60»/],
  ['* 24 * * *', /«hour», «24»/],
  ['* * 0 * *', /«day of month», «0»/],
  ['* * 32 * *', /«day of month», «32»/],
  ['* * * 13 *', /«month», «13»/],
  ['* * * 0 *', /«month», «0»/],
  ['* * * * 8', /«day of week», «8»/],
  ['* * L * *', /«day of month», «l»/],
  ['* * 15W * *', /«day of month», «15w»/],
  ['* * ? * *', /«day of month»/],
  ['H * * * *', /«minute», «h»/],
  ['* * * * 5#2', /«day of week», «5#2»/],
  ['* * * * 5L', /«day of week», «5l»/],
  ['* * * * fri-mon', /«day of week», «fri-mon»/],
  ['30-10 * * * *', /«minute», «30-10»/],
  ['*/0 * * * *', /«minute», «\*\/0»/],
  ['*/ * * * *', /«minute», «\*\/»/],
  ['1- * * * *', /«minute»/],
  ['1,,2 * * * *', /«minute»/],
  ['*-5 * * * *', /«minute»/],
  ['-5 * * * *', /«minute»/],
  ['1.5 * * * *', /«minute»/],
  ['mon * * * *', /«minute», «mon»/],
  ['* * * monday *', /«month»/],
  ['@reboot', /1 fields/],
  ['constructor', /1 fields/],
  ['* * * * *\nOnCalendar=*', /«day of week»/],
  ['* * * * $(id)', /«day of week»/],
  [`${'1,'.repeat(600)}1 * * * *`, /more than 1024 characters/],
];

for (const [cron, says] of wrong) {
  test(`«${cron.replaceAll('\n', '⏎')}» is refused, and the field is named`, async () => {
    const fault = await faultOf(() => calendarOf(cron));
    assert.equal(fault.code, 'invalid_input');
    assert.match(fault.message, says);
  });
}
