/**
 * A note that is written with the first change that somebody's work makes, in the same transaction: there is no moment at
 * which one exists without the other, and work that changes nothing leaves none. What it says is not known here.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { WorkspaceId } from '../ids.ts';
import type { Queryable } from './queryable.ts';
import type { Query } from './sql.ts';

export interface ChangeNote {
  readonly write: (tx: Queryable) => Promise<void>;
  readonly add: (details: NoteDetails) => void;
}

/** What a use case knows better than whoever began the note. */
export interface NoteDetails {
  readonly subject?: { readonly type: string; readonly id: string };
  readonly workspaceId?: WorkspaceId;
  /** What was there before the change. */
  readonly before?: Readonly<Record<string, unknown>>;
}

interface Held {
  readonly note: ChangeNote;
  /** `over`: the work has ended. What it has left running behind it makes changes that are not its own. */
  state: 'open' | 'taken' | 'over';
}

const held = new AsyncLocalStorage<Held>();

export async function notingChanges<T>(note: ChangeNote, work: () => Promise<T>): Promise<T> {
  const own: Held = { note, state: 'open' };
  try {
    return await held.run(own, work);
  } finally {
    own.state = 'over';
  }
}

/** What is counted before it is known whether there is a change: the note is left for the change itself. */
export function unnoted<T>(work: () => Promise<T>): Promise<T> {
  return held.exit(work);
}

/** Whether somebody's work is under way whose changes are noted, written or not. */
export function isNoting(): boolean {
  const own = held.getStore();
  return own !== undefined && own.state !== 'over';
}

/** Before the transaction commits; without a note there is nobody to tell. */
export function addToNote(details: NoteDetails): void {
  const own = held.getStore();
  if (own?.state === 'open') own.note.add(details);
}

export function hasOpenNote(): boolean {
  return held.getStore()?.state === 'open';
}

/** Takes the note for a transaction; it is given back where the transaction does not commit. */
export function takeNote(): { readonly note: ChangeNote; readonly giveBack: () => void } | undefined {
  const own = held.getStore();
  if (own?.state !== 'open') return undefined;
  own.state = 'taken';
  return {
    note: own.note,
    giveBack: () => {
      if (own.state === 'taken') own.state = 'open';
    },
  };
}

const known = new Map<string, boolean>();

/** Whether a statement changes rows: a `with` may do so in one of its parts. */
export function changesRows({ name, text, isRead }: Query): boolean {
  if (isRead) return false;
  const seen = known.get(name);
  if (seen !== undefined) return seen;
  const changes =
    /^\s*(insert|update|delete)\b/i.test(text) ||
    (/^\s*with\b/i.test(text) &&
      /\b(insert\s+into|update\s+\w+(\s+(as\s+)?\w+)?\s+set|delete\s+from)\b/i.test(text));
  known.set(name, changes);
  return changes;
}
