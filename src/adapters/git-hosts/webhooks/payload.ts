/**
 * A payload, read field by field with a check at each. By hand, because the service loads this at its start, and a
 * checker of schemas would cost that more than everything else here.
 */
import { Fault } from '../../../fault.ts';

export class Payload {
  readonly #value: unknown;
  readonly #path: string;

  constructor(value: unknown, path = '') {
    this.#value = value;
    this.#path = path;
  }

  /** What lies at a key of an object, be it there or not. */
  at(key: string): Payload {
    const value = this.#value;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.#wrong('an object');
    const found = Object.entries(value).find(([name]) => name === key)?.[1];
    return new Payload(found, this.#path === '' ? key : `${this.#path}.${key}`);
  }

  get isThere(): boolean {
    return this.#value !== undefined && this.#value !== null;
  }

  /** Itself, where it is there. */
  get maybe(): Payload | undefined {
    return this.isThere ? this : undefined;
  }

  text(): string {
    if (typeof this.#value === 'string' && this.#value !== '') return this.#value;
    throw this.#wrong('a text');
  }

  /** A text that may be left out or empty. */
  textOrNull(): string | null {
    if (!this.isThere || this.#value === '') return null;
    return this.text();
  }

  sha(): string {
    const text = this.text();
    if (/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text)) return text;
    throw this.#wrong('the id of a commit');
  }

  id(): string {
    return Number.isSafeInteger(this.#value) ? String(this.#value) : this.text();
  }

  flagOrNull(): boolean | null {
    if (!this.isThere) return null;
    if (typeof this.#value === 'boolean') return this.#value;
    throw this.#wrong('true or false');
  }

  countOrNull(): number | null {
    if (!this.isThere) return null;
    if (typeof this.#value === 'number') return this.#value;
    throw this.#wrong('a number');
  }

  /** Nothing is an empty list. */
  list(): Payload[] {
    return this.isThere ? this.items() : [];
  }

  /** A list that has to be there. */
  items(): Payload[] {
    if (!Array.isArray(this.#value)) throw this.#wrong('a list');
    return this.#value.map((item: unknown, index) => new Payload(item, `${this.#path}.${index}`));
  }

  #wrong(what: string): Fault {
    const path = this.#path || 'body';
    return new Fault(
      'invalid_input',
      `The delivery is not as its host describes it: ${path} is not ${what}.`,
      {
        errors: [{ path, message: `is not ${what}` }],
      },
    );
  }
}
