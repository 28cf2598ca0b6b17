/**
 * A cron schedule in the words of systemd. Every field is written out as the values that it stands for, so that nothing
 * depends on how the two read steps, names or Sundays.
 */
import { Fault } from '../../fault.ts';

interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const systemdDays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const longestMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const fields = {
  minute: { name: 'minute', least: 0, most: 59 },
  hour: { name: 'hour', least: 0, most: 23 },
  day: { name: 'day of month', least: 1, most: 31 },
  month: { name: 'month', least: 1, most: 12, names: monthNames },
  // Both 0 and 7 are Sunday.
  weekday: { name: 'day of week', least: 0, most: 7, names: dayNames },
} as const satisfies Record<string, Field>;

const shorthands: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/**
 * Where both days are restricted, cron runs on either: that takes two expressions. A field that begins with `*` is not
 * restricted, as in the cron of Debian, also where a step follows; then both have to be right.
 */
export function calendarOf(cron: string, timezone: 'UTC' = 'UTC'): string[] {
  const text = cron.trim().toLowerCase();
  if (text.startsWith('@') && !Object.hasOwn(shorthands, text))
    throw refused(`«${shown(cron)}» is not one of ${Object.keys(shorthands).join(', ')}.`);
  const parts = (shorthands[text] ?? text).split(/[ \t]+/);
  const [minute, hour, day, month, weekday] = parts;
  if (minute === undefined || hour === undefined || day === undefined || month === undefined)
    throw wrongCount(parts.length);
  if (weekday === undefined || parts.length > 5) throw wrongCount(parts.length);
  const minutes = valuesOf(fields.minute, minute);
  const hours = valuesOf(fields.hour, hour);
  const days = valuesOf(fields.day, day);
  const months = valuesOf(fields.month, month);
  const weekdays = new Set([...valuesOf(fields.weekday, weekday)].map((value) => value % 7));
  const time = `${written(fields.hour, hours)}:${written(fields.minute, minutes)}:00 ${timezone}`;
  const on = (which: ReadonlySet<number>, dayOfWeek: ReadonlySet<number>) =>
    `${weekdayList(dayOfWeek)}*-${written(fields.month, months)}-${written(fields.day, which)} ${time}`;
  const hasDate = existsInSome(months, days);
  const isEither = !day.startsWith('*') && !weekday.startsWith('*');
  if (!hasDate && !isEither)
    throw refused(`No month that is named has a day that is named: «${shown(cron)}» never runs.`);
  if (!isEither) return [on(days, weekdays)];
  const everyDay = valuesOf(fields.day, '*');
  const everyWeekday = new Set([0, 1, 2, 3, 4, 5, 6]);
  return [...(hasDate ? [on(days, everyWeekday)] : []), on(everyDay, weekdays)];
}

function valuesOf(field: Field, text: string): Set<number> {
  const values = new Set<number>();
  for (const item of text.split(',')) {
    const found = /^(\*|[a-z0-9]+)(?:-([a-z0-9]+))?(?:\/([0-9]{1,3}))?$/.exec(item);
    const [, from = '', to, step] = found ?? [];
    if (!found || (from === '*' && to !== undefined)) throw badItem(field, item);
    const first = from === '*' ? field.least : numberOf(field, from, item);
    // A number with a step goes on to the end; without one it stands alone.
    const open = from === '*' || step !== undefined ? endOf(field) : first;
    const last = to === undefined ? open : numberOf(field, to, item);
    const every = step === undefined ? 1 : Number(step);
    if (every < 1) throw refused(`In the field «${field.name}», «${shown(item)}» has a step of nothing.`);
    if (last < first) throw refused(`In the field «${field.name}», «${shown(item)}» runs backwards.`);
    for (let value = first; value <= last; value += every) values.add(value);
  }
  return values;
}

/** Sunday is the first day of a week once, not at both ends of it. */
function endOf({ most }: Field): number {
  return most === fields.weekday.most ? most - 1 : most;
}

function numberOf(field: Field, word: string, item: string): number {
  const { least, most, names = [], name } = field;
  const at = names.indexOf(word);
  if (at !== -1) return at + least;
  if (!/^\d{1,2}$/.test(word)) throw badItem(field, item);
  const value = Number(word);
  if (value < least || value > most)
    throw refused(`In the field «${name}», ${value} is not from ${least} to ${most}.`);
  return value;
}

function badItem({ name }: Field, item: string): Fault {
  if (/[l#w?]/.test(item.replaceAll(/jul|wed/g, '')))
    return refused(
      `In the field «${name}», «${shown(item)}» is not understood: L, W, # and ? are not part of ordinary cron.`,
    );
  return refused(`In the field «${name}», «${shown(item)}» is not understood.`);
}

function wrongCount(count: number): Fault {
  return refused(`It has ${count} fields instead of five: minute, hour, day of month, month, day of week.`);
}

function refused(message: string): Fault {
  return new Fault('invalid_input', `The schedule cannot be used. ${message}`, {
    hint: 'A schedule is written as in cron, «*/15 8-18 * * mon-fri» for example.',
    errors: [{ path: 'schedule', message }],
  });
}

function shown(text: string): string {
  return text.slice(0, 60);
}

function existsInSome(months: ReadonlySet<number>, days: ReadonlySet<number>): boolean {
  const earliest = Math.min(...days);
  return [...months].some((month) => earliest <= (longestMonths[month - 1] ?? 0));
}

function written({ least, most }: Field, values: ReadonlySet<number>): string {
  if (values.size === most - least + 1) return '*';
  const sorted = [...values].sort((one, other) => one - other);
  return sorted.map((value) => String(value).padStart(2, '0')).join(',');
}

function weekdayList(values: ReadonlySet<number>): string {
  if (values.size === 7) return '';
  return `${systemdDays.filter((_, index) => values.has(index)).join(',')} `;
}
