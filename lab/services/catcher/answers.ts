/** What the catcher was told to answer: one plan for each path, for a number of times or until it is replaced. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { InputError } from '../control/input.ts';

export interface Answer {
  /** 200 where not given. */
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string | string[]>> | undefined;
  readonly body?: string | undefined;
  readonly delayMs?: number | undefined;
  /** How many requests get it; after them the path is answered 200 `ok` again. For ever where not given. */
  readonly times?: number | undefined;
  /** The connection is closed instead of an answer, after the delay if there is one. */
  readonly hangUp?: boolean | undefined;
}

export interface PathAnswer extends Answer {
  readonly path: string;
}

const longestDelayMs = 300_000;

export class Answers {
  readonly #plans = new Map<string, { answer: Answer; left: number }>();

  set(path: string, answer: Answer | undefined): void {
    checkPath(path);
    if (answer === undefined) this.#plans.delete(path);
    else this.#plans.set(path, { answer: checked(answer), left: answer.times ?? Number.POSITIVE_INFINITY });
  }

  /** With the times that are left. */
  list(): PathAnswer[] {
    return [...this.#plans].map(([path, { answer, left }]) => {
      const times = Number.isFinite(left) ? { times: left } : {};
      return { path, ...answer, ...times };
    });
  }

  /** Counts as one of the times. */
  take(path: string): Answer {
    const plan = this.#plans.get(path);
    if (!plan) return { body: 'ok' };
    plan.left--;
    if (plan.left <= 0) this.#plans.delete(path);
    return plan.answer;
  }
}

export function checkPath(path: string): void {
  if (/^\/[^?#\s]*$/.test(path)) return;
  throw new InputError(`"${path}" is no path: it begins with / and has no query, such as /hooks/deploy.`);
}

function checked(answer: Answer): Answer {
  const { status = 200, delayMs = 0, times = 1, headers = {}, hangUp = false } = answer;
  if (!isWhole(status, 200, 599))
    throw new InputError(`${status} is no status to answer with: it is from 200 to 599, such as 503.`);
  if (!isWhole(delayMs, 0, longestDelayMs))
    throw new InputError(`${delayMs} is no delayMs: it is from 0 to ${longestDelayMs}, such as 1000.`);
  if (!isWhole(times, 1, Number.MAX_SAFE_INTEGER))
    throw new InputError(`${times} is not a number of times: it is 1 or more; leave it out for every time.`);
  if (hangUp && (answer.status !== undefined || answer.body !== undefined || answer.headers !== undefined))
    throw new InputError('Whoever hangs up says nothing: leave out status, headers and body, or hangUp.');
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value);
  return answer;
}

function checkHeader(name: string, value: string | string[]): void {
  try {
    validateHeaderName(name);
    for (const each of [value].flat()) validateHeaderValue(name, each);
  } catch (error) {
    throw new InputError(`The header ${JSON.stringify(name)} cannot be sent: ${String(error)}`);
  }
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}
