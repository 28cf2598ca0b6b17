/** One setting: its name, its default, what it means, and how its text is read. */
import type { Reader } from './setting-values.ts';

export interface Setting<T> {
  readonly env: string;
  readonly about: string;
  readonly standard: string | undefined;
  readonly secret: boolean;
  readonly parse: Reader<T>;
  readonly absent: () => T;
}

export function setting<T>(env: string, standard: string, parse: Reader<T>, about: string): Setting<T> {
  const absent = (): never => {
    throw new Error(`${env} has a default`);
  };
  return { env, standard, parse, about, secret: false, absent };
}

export function optional<T>(
  env: string,
  parse: Reader<T>,
  about: string,
  secret = false,
): Setting<T | undefined> {
  return { env, standard: undefined, parse, about, secret, absent: () => undefined };
}
