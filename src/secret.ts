/** A value that cannot be printed by accident: it shows itself as `[secret]` in logs, JSON and errors. */
import { inspect } from 'node:util';

export class Secret<T extends string | Buffer = string> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** The one way out. Every call of it is a place to look at in a review. */
  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}
