/** Time is passed in, so that tests move it instead of waiting for it. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

export function after(from: Date, ms: number): Date {
  return new Date(from.getTime() + ms);
}

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;
