/**
 * The times of a schedule: five fields of cron in a time zone. Where clocks are put forward, a run in the hour that is
 * missing happens right after it, once; where they are put back, a run in the doubled hour happens in the first, once.
 * Each environment is a little late in its own way, so that not all begin in the same second.
 */
import { createHash } from 'node:crypto';
import { CronExpressionParser } from 'cron-parser';
import { day, minute, second } from '../../clock.ts';
import { errorText, Fault } from '../../fault.ts';

/** Shorter than the least time between two runs, so that no run is skipped for it. */
const mostJitterSeconds = 300;
const leastBetweenMs = 15 * minute;
/** Enough to meet every pair of neighbours that a cron of five fields has in a day, and in a week of such days. */
const lookedAt = 700;
/** Rare ones repeat themselves within this. */
const lookedAheadMs = 800 * day;

export interface ScheduleWish {
  readonly cron: string;
  readonly timezone: string;
}

/** The first time after `from` that the cron names, without the delay. */
export function nextTime({ cron, timezone }: ScheduleWish, from: Date): Date {
  return CronExpressionParser.parse(cron, { tz: timezone, currentDate: from }).next().toDate();
}

/** The same with the environment's own delay: when it is really begun. */
export function nextRun(wish: ScheduleWish, environmentId: string, from: Date): Date {
  const delayMs = jitterSeconds(environmentId) * second;
  // A time that has passed, but whose delayed run has not, is still to come.
  const time = nextTime(wish, new Date(from.getTime() - delayMs));
  return new Date(time.getTime() + delayMs);
}

/** Always the same for an environment: its runs keep their distance from each other. */
export function jitterSeconds(environmentId: string): number {
  return createHash('sha256').update(environmentId).digest().readUInt32BE(0) % mostJitterSeconds;
}

/** How many runs fell into a time, both ends excluded; counted up to a hundred. */
export function runsBetween(wish: ScheduleWish, from: Date, to: Date): number {
  const times = CronExpressionParser.parse(wish.cron, { tz: wish.timezone, currentDate: from });
  for (let count = 0; count < 100; count += 1) if (times.next().toDate() >= to) return count;
  return 100;
}

export function checkSchedule({ cron, timezone }: ScheduleWish, now: Date): void {
  if (!isTimezone(timezone))
    throw invalid('timezone', 'is not a time zone such as Europe/Berlin', 'There is no such time zone.');
  const fields = cron.trim().split(/\s+/);
  // A letter outside of names, such as the H of others, would mean another time on each look.
  if (fields.length !== 5 || !fields.every((each) => /^[\d*,/-]+$|^[A-Za-z\d,-]{3,}$|^[\dL#?]+$/.test(each)))
    throw invalid('cron', 'must have five fields, such as `30 3 * * *`', 'The cron cannot be read.');
  let times: { next(): { toDate(): Date } };
  try {
    times = CronExpressionParser.parse(cron, { tz: timezone, currentDate: now });
    times.next();
  } catch (error) {
    throw invalid('cron', `cannot be read: ${errorText(error)}`, 'The cron cannot be read.');
  }
  let before = times.next().toDate();
  for (let index = 0; index < lookedAt; index += 1) {
    const time = times.next().toDate();
    if (time.getTime() - before.getTime() < leastBetweenMs)
      throw invalid('cron', 'must not run more often than every 15 minutes', 'The schedule is too dense.');
    if (time.getTime() - now.getTime() > lookedAheadMs) return;
    before = time;
  }
}

function isTimezone(timezone: string): boolean {
  try {
    // A bare offset has no daylight saving; whoever means it says Etc/GMT+1.
    return /^[A-Za-z]/.test(timezone) && new Intl.DateTimeFormat('en', { timeZone: timezone }) !== undefined;
  } catch {
    return false;
  }
}

function invalid(path: string, message: string, sentence: string): Fault {
  return new Fault('invalid_input', sentence, { errors: [{ path, message }] });
}
