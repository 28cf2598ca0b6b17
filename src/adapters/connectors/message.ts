/** A message as every connector gets it: words and facts, not yet in anyone's format, and nothing in it escaped. */

export type Tone = 'good' | 'bad' | 'warning' | 'neutral';

export interface Fact {
  readonly name: string;
  readonly value: string;
}

export interface Message {
  /** The same over all tries: receivers that can tell a repeat know it by this. */
  readonly id: string;
  /** The kind of notice, `several` where they came close together, `test`. */
  readonly event: string;
  readonly tone: Tone;
  /** One line. */
  readonly title: string;
  readonly summary: string | null;
  readonly facts: readonly Fact[];
  /** The last lines of what failed. */
  readonly lines: readonly string[];
  readonly link: string | null;
  readonly at: Date;
  /** One line each, where several came close together. */
  readonly items: readonly string[];
  /** What it says, for programs. */
  readonly payload: Readonly<Record<string, unknown>>;
}
