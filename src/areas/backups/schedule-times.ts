/**
 * The times of a backup schedule. Each environment is a little late in its own way, so that not all begin in the same
 * second.
 */
import { createHash } from 'node:crypto';
import { after, day, minute, second } from '../../clock.ts';
import { cronTimes, parseCron } from '../../cron.ts';
import { Fault } from '../../fault.ts';

/** Shorter than the least time between two runs, so that no run is skipped for it. */
const maxJitterSeconds = 300;
const minIntervalMs = 15 * minute;
/** Enough to meet every pair of neighbours that a cron of five fields has in a day, and in a week of such days. */
const checkedRuns = 700;
/** Rare ones repeat themselves within this. */
const checkedAheadMs = 800 * day;

export interface CronSchedule {
  readonly cron: string;
  readonly timezone: string;
}

/** The first time after `from` that the cron names, without the jitter. */
export function nextTime({ cron, timezone }: CronSchedule, from: Date): Date {
  return cronTimes(cron, timezone, from).next().value;
}

/** The same with the environment's own jitter: when it is really begun. */
export function nextRun(schedule: CronSchedule, environmentId: string, from: Date): Date {
  const jitterMs = jitterSeconds(environmentId) * second;
  // A time that has passed, but whose delayed run has not, is still to come.
  return after(nextTime(schedule, after(from, -jitterMs)), jitterMs);
}

/** Always the same for an environment: its runs keep their distance from each other. */
export function jitterSeconds(environmentId: string): number {
  return createHash('sha256').update(environmentId).digest().readUInt32BE(0) % maxJitterSeconds;
}

/** How many runs fell into a time, both ends excluded; counted up to a hundred. */
export function runsBetween({ cron, timezone }: CronSchedule, from: Date, to: Date): number {
  let count = 0;
  for (const time of cronTimes(cron, timezone, from)) {
    if (time >= to || count === 100) break;
    count += 1;
  }
  return count;
}

export function checkSchedule({ cron, timezone }: CronSchedule, now: Date): void {
  if (!isTimezone(timezone))
    throw invalid('timezone', 'is not a time zone such as Europe/Berlin', 'There is no such time zone.');
  parseCron(cron, 'cron');
  let before: Date | undefined;
  let count = 0;
  for (const time of cronTimes(cron, timezone, now)) {
    if (before && time.getTime() - before.getTime() < minIntervalMs)
      throw invalid('cron', 'must not run more often than every 15 minutes', 'The schedule is too dense.');
    before = time;
    count += 1;
    if (count > checkedRuns || time.getTime() - now.getTime() > checkedAheadMs) return;
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
