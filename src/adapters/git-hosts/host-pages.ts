/** Pages of a host's lists. Of a link to the next page only its page is taken: the place is known, and not up to it. */
import { Fault } from '../../fault.ts';
import type { HostCursor, HostPage, ListQuery } from './host.ts';
import { misunderstood } from './host-faults.ts';

export interface ListPlace {
  /** Items to a page; it stays the same through a list, or pages would overlap. */
  readonly size: number;
  readonly page: string;
  /** Items of the page that were given already. */
  readonly skip: number;
  /** Which of several lists, where a host has one for each of its parts. */
  readonly part: string;
}

export interface ListPiece<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

export function writeCursor({
  size,
  page,
  skip = 0,
  part = '',
}: Partial<ListPlace> & { size: number; page: string }) {
  return Buffer.from(JSON.stringify([size, page, skip, part])).toString('base64url');
}

export function readCursor(cursor: HostCursor | undefined, limit: number, most: number): ListPlace {
  if (cursor === undefined) return { size: Math.min(limit, most), page: '1', skip: 0, part: '' };
  const [size, page, skip, part] = parsed(cursor);
  const isGood =
    isCount(size) &&
    size >= 1 &&
    size <= 100 &&
    isCount(skip) &&
    typeof page === 'string' &&
    typeof part === 'string';
  if (isGood) return { size, page, skip, part };
  throw new Fault('invalid_input', 'The cursor is not one that was given out here.', {
    errors: [{ path: 'cursor', message: 'is not a cursor of this list' }],
  });
}

function parsed(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;

/** The page that a `Link` header names as the next one. */
export function nextPage(link: string | null | undefined, label: string): string | null {
  const url = /<([^<>]+)>\s*;[^,]*\brel="?next"?/.exec(link ?? '')?.[1];
  return url === undefined ? null : pageIn(url, label);
}

export function pageIn(url: string, label: string): string {
  const page = URL.parse(url, 'http://relative.invalid')?.searchParams.get('page');
  if (page) return page;
  throw misunderstood(label, 'the link to the next page names no page');
}

/** So many requests are enough for one answer; where it goes on is given with it. */
const mostPages = 50;

/**
 * What fits, out of a list that the host cannot search, until there is enough. Costs a request for each page, and
 * is for lists that are not cached.
 */
export async function filterPages<T>(
  query: Pick<ListQuery, 'limit' | 'page'>,
  size: number,
  fits: (item: T) => boolean,
  read: (place: ListPlace) => Promise<ListPiece<T>>,
): Promise<HostPage<T>> {
  const found: T[] = [];
  let place = readCursor(query.page, size, size);
  for (let count = 0; count < mostPages; count++) {
    const { items, next } = await read(place);
    for (const [index, item] of items.entries()) {
      if (index < place.skip || !fits(item)) continue;
      if (found.length === query.limit) return { items: found, next: writeCursor({ ...place, skip: index }) };
      found.push(item);
    }
    if (next === null) return { items: found, next: null };
    place = { ...place, page: next, skip: 0 };
  }
  return { items: found, next: writeCursor(place) };
}

/** A piece of a list that came whole. */
export function pageOfAll<T>(all: readonly T[], query: ListQuery): HostPage<T> {
  const place = readCursor(query.page, query.limit, 100);
  const end = place.skip + place.size;
  return {
    items: all.slice(place.skip, end),
    next: end < all.length ? writeCursor({ ...place, skip: end }) : null,
  };
}

/** Whether a text contains what was searched for, in either case. */
export const containing = (search = '') => {
  const wanted = search.toLowerCase();
  return (text: string) => text.toLowerCase().includes(wanted);
};
