/**
 * The times of a backup schedule. Each environment is a little late in its own way, so that not all begin in the same
 * second.
 */
import { createHash } from 'node:crypto';
import { after, day, second } from '../../../clock.ts';
import { type CronFields, cronTimes, isRunDay, parseCron } from '../../../cron.ts';
import { Fault } from '../../../fault.ts';

/** Shorter than the least time between two runs, so that no run is skipped for it. */
const maxJitterSeconds = 300;
const minIntervalMinutes = 15;

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

export function checkSchedule({ cron, timezone }: CronSchedule): void {
  if (!isTimezone(timezone))
    throw invalid('timezone', 'is not a time zone such as Europe/Berlin', 'There is no such time zone.');
  if (minInterval(parseCron(cron, 'cron')) < minIntervalMinutes)
    throw invalid('cron', 'must not run more often than every 15 minutes', 'The schedule is too dense.');
}

/** In minutes. By the fields alone: a clock that is put forward makes two runs one, and no two closer. */
function minInterval(fields: CronFields): number {
  const times = fields.hours.flatMap((hour) => fields.minutes.map((each) => hour * 60 + each));
  const [first = 0] = times;
  const overnight = first + 24 * 60 - (times.at(-1) ?? 0);
  const intervals = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  // Asked last: most schedules have no runs around midnight.
  if (overnight < minIntervalMinutes && runsOnConsecutiveDays(fields)) intervals.push(overnight);
  return Math.min(...intervals);
}

/** After 28 years, dates fall on the same weekdays again. */
function runsOnConsecutiveDays(fields: CronFields): boolean {
  let ranBefore = false;
  for (let at = new Date('2024-01-01T00:00:00Z'); at.getUTCFullYear() < 2052; at = after(at, day)) {
    const runs = isRunDay(fields, at.getUTCMonth() + 1, at.getUTCDate(), at.getUTCDay());
    if (runs && ranBefore) return true;
    ranBefore = runs;
  }
  return false;
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
