/** When to renew, and when to try again. Pure: time and chance are passed in. */
import { after, day, hour, minute } from '../../clock.ts';

/** From 0 to just below 1. */
export type Random = () => number;

export interface RenewalQuestion {
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly now: Date;
  readonly random: Random;
}

const leadMs = 30 * day;
const overdueSpreadMs = 10 * minute;

/**
 * 30 days before the end, or after two thirds of a life that is shorter than 90 days; up to a tenth of that lead
 * earlier, so that certificates made together are not renewed together. Never later, and never in the past.
 */
export function renewalTime({ notBefore, notAfter, now, random }: RenewalQuestion): Date {
  const life = Math.max(0, notAfter.getTime() - notBefore.getTime());
  const lead = Math.min(leadMs, life / 3);
  const due = after(notAfter, -lead - random() * (lead / 10));
  if (due > now) return due;
  // After a long stop everything is due at once.
  const left = notAfter.getTime() - now.getTime();
  return left <= 0 ? now : after(now, random() * Math.min(overdueSpreadMs, left / 10));
}

export interface RetryQuestion {
  /** In a row, this one included. */
  readonly failures: number;
  readonly retryAfterSeconds?: number | undefined;
  readonly now: Date;
  readonly random: Random;
}

/** Four tries fall into the first hour: Let's Encrypt refuses after five that failed, and a person may want one. */
const delaysMs = [2 * minute, 10 * minute, 30 * minute, hour, 2 * hour, 4 * hour, 8 * hour, 12 * hour];
/** The longest window of any limit that is known; an authority that says more is not understood. */
const longestMs = 7 * day;

/** Chance only ever adds to the wait: what is counted by the hour is never asked for sooner. */
export function nextTry({ failures, retryAfterSeconds = 0, now, random }: RetryQuestion): Date {
  const index = Math.min(Math.max(1, Math.ceil(failures) || 1), delaysMs.length) - 1;
  const own = delaysMs[index] ?? 12 * hour;
  const theirs = Number.isFinite(retryAfterSeconds) ? Math.min(retryAfterSeconds * 1000, longestMs) : 0;
  const base = Math.max(own, theirs);
  return after(now, base + random() * Math.min(base / 5, hour));
}
