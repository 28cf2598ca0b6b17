/**
 * The cron dialect, one for the processes of applications and for backups: five fields with lists, ranges, steps and
 * names, or a shorthand such as `@daily`. What L, W, # and ? mean differs from cron to cron, so they are refused.
 */
import { CronExpressionParser, CronMonth } from 'cron-parser';
import { errorText, Fault } from './fault.ts';

const fieldNames = ['minute', 'hour', 'day of month', 'month', 'day of week'] as const;
const item = /^(\*|(\d+|[a-z]{3})(-(\d+|[a-z]{3}))?)(\/\d+)?$/i;

const longest = 1_024;

const shorthands: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

/** The values that each field stands for, in order. Sunday is 0. */
export interface CronFields {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly daysOfMonth: readonly number[];
  readonly months: readonly number[];
  readonly daysOfWeek: readonly number[];
  /**
   * Both kinds of days are restricted: it runs on either. A field that begins with `*`, also with a step, is not
   * restricted, as in the cron of Debian; then both have to match.
   */
  readonly isEitherDay: boolean;
}

/** `path` is the field of the request that it came in. */
export function parseCron(expression: string, path: string): CronFields {
  const text = expression.trim().toLowerCase();
  const fields = (shorthands.get(text) ?? text).split(/[ \t]+/);
  const refused = (reason: string) =>
    new Fault('invalid_input', `The cron expression is invalid: ${reason}.`, {
      hint: 'It has five fields, as in `*/15 8-18 * * mon-fri`, or is a shorthand such as `@daily`.',
      errors: [{ path, message: `is no valid cron expression: ${reason}` }],
    });
  if (text.length > longest) throw refused(`it has more than ${longest} characters`);
  if (fields.length !== fieldNames.length) throw refused(`it has ${fields.length} fields instead of five`);
  const [minutes = [], hours = [], daysOfMonth = [], months = [], daysOfWeek = []] = fieldNames.map(
    (name, index) => {
      const values = new Set<number>();
      // One by one: the parser refuses lists with overlaps, which cron reads.
      for (const each of (fields[index] ?? '').split(',')) {
        const alone = fieldNames.map((_, at) => (at === index ? each : '*')).join(' ');
        try {
          if (!item.test(each)) throw new Error('expected *, a value or a range, and perhaps a step');
          for (const value of valuesOf(alone, name)) values.add(value);
        } catch (error) {
          throw refused(`in the field «${name}», «${each.slice(0, 60)}»: ${errorText(error)}`);
        }
      }
      return [...values].sort((one, other) => one - other);
    },
  );
  const isEitherDay = !fields[2]?.startsWith('*') && !fields[4]?.startsWith('*');
  const parsed = { minutes, hours, daysOfMonth, months, daysOfWeek, isEitherDay };
  if (!isEitherDay && !hasDate(parsed)) throw refused('none of its months has one of its days');
  return parsed;
}

function valuesOf(expression: string, name: (typeof fieldNames)[number]): number[] {
  const { minute, hour, dayOfMonth, month, dayOfWeek } = CronExpressionParser.parse(expression).fields;
  const byName = {
    minute,
    hour,
    'day of month': dayOfMonth,
    month,
    'day of week': dayOfWeek,
  };
  return byName[name].values.map((value) => (name === 'day of week' ? Number(value) % 7 : Number(value)));
}

export function isRunDay(fields: CronFields, month: number, dayOfMonth: number, dayOfWeek: number): boolean {
  const onDate = fields.daysOfMonth.includes(dayOfMonth);
  const onWeekday = fields.daysOfWeek.includes(dayOfWeek);
  return fields.months.includes(month) && (fields.isEitherDay ? onDate || onWeekday : onDate && onWeekday);
}

/** Whether one of the months has one of the days. */
export function hasDate({ months, daysOfMonth }: Pick<CronFields, 'months' | 'daysOfMonth'>): boolean {
  const earliest = Math.min(...daysOfMonth);
  return months.some((month) => earliest <= (CronMonth.daysInMonth[month - 1] ?? 0));
}

/**
 * The times after `from`. Where clocks go forward, a run in the hour that is missing happens right after it, once; where
 * they go back, a run in the hour that comes twice happens in the first, once.
 */
export function* cronTimes(expression: string, timezone: string, from: Date): Generator<Date, never> {
  const fields = readStored(expression);
  const text = fields ? written(fields) : expression;
  const times = CronExpressionParser.parse(text, { tz: timezone, currentDate: from });
  // The parser runs on either day wherever both are restricted, by a step of `*` as well.
  const needsBoth =
    fields && !fields.isEitherDay && fields.daysOfMonth.length < 31 && fields.daysOfWeek.length < 7;
  for (;;) {
    const time = times.next();
    if (!needsBoth || isRunDay(fields, time.getMonth() + 1, time.getDate(), time.getDay()))
      yield time.toDate();
  }
}

/** Undefined for one that was stored when `L`, `#` and `?` were accepted: the parser itself reads those. */
function readStored(expression: string): CronFields | undefined {
  try {
    return parseCron(expression, 'cron');
  } catch {
    return undefined;
  }
}

function written({ minutes, hours, daysOfMonth, months, daysOfWeek, isEitherDay }: CronFields): string {
  // `*` says that a day is not restricted, which the list of all of them does not.
  const days = (values: readonly number[], all: number) =>
    values.length === all && !isEitherDay ? '*' : values.join(',');
  return [minutes, hours, days(daysOfMonth, 31), months, days(daysOfWeek, 7)].join(' ');
}
