/** JSON of the server, which can be anything. */
import { Unreadable } from './facts.ts';

export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Unreadable(`What the server told about ${what} is no JSON.`, { cause: error });
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
