/**
 * A cron expression as OnCalendar expressions of systemd. Every field is written out as the values that it stands for, so
 * that nothing depends on how the two read steps, names or Sundays.
 */
import { hasDate, parseCron } from '../../cron.ts';

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** Where cron runs on either of two restricted days, systemd needs two expressions: one alone means both. */
export function calendarOf(cron: string): string[] {
  const fields = parseCron(cron, 'schedule');
  const time = `${list(fields.hours, 24)}:${list(fields.minutes, 60)}:00 UTC`;
  const dates = list(fields.daysOfMonth, 31);
  const days = fields.daysOfWeek.length === 7 ? '' : `${fields.daysOfWeek.map((day) => weekdays[day])} `;
  const on = (dayOfWeek: string, dayOfMonth: string) =>
    `${dayOfWeek}*-${list(fields.months, 12)}-${dayOfMonth} ${time}`;
  if (!fields.isEitherDay) return [on(days, dates)];
  return [...(hasDate(fields) ? [on('', dates)] : []), on(days, '*')];
}

function list(values: readonly number[], all: number): string {
  return values.length === all ? '*' : values.map((value) => String(value).padStart(2, '0')).join(',');
}
