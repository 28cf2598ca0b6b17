/** One page of a list, newest first: the cursor is the last id that was shown, wrapped so that nobody builds on it. */
import { Fault } from './fault.ts';
import { isId } from './ids.ts';

export interface PageQuery {
  readonly limit?: number;
  readonly cursor?: string;
}

export interface PageAnswer<T> {
  readonly items: T[];
  readonly nextCursor: string | null;
}

export const pageLimit = { standard: 50, most: 100 } as const;

/**
 * Where the first page begins. A statement that asked whether there is a cursor at all could not use it to find its
 * place in the index: a page deep in a list would read all the pages before it.
 */
export const aboveAllIds = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export class Page {
  readonly limit: number;
  /** Only rows with an id below this one. */
  readonly before: string;

  constructor(query: PageQuery) {
    this.limit = query.limit ?? pageLimit.standard;
    this.before = query.cursor === undefined ? aboveAllIds : readCursor(query.cursor);
  }

  /** Takes up to one row more than the limit, which tells whether there is another page. */
  answer<Row extends { readonly id: string }, T>(rows: readonly Row[], show: (row: Row) => T): PageAnswer<T> {
    const shown = rows.slice(0, this.limit);
    const last = shown.at(-1);
    const nextCursor = rows.length > this.limit && last ? Buffer.from(last.id).toString('base64url') : null;
    return { items: shown.map(show), nextCursor };
  }
}

function readCursor(cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString('latin1');
  if (isId(id)) return id;
  throw badCursor();
}

export function badCursor(): Fault {
  const message = 'is not a cursor that this list gave out; leave it away to start from the beginning';
  return new Fault('invalid_input', 'The cursor is not valid.', { errors: [{ path: 'cursor', message }] });
}
