/** Pages of a host's lists. Of a link to the next page only its page is taken: the place is known, and not up to it. */
import { Fault } from '../../fault.ts';
import { misunderstood } from './host-faults.ts';

/** Where a list goes on. Opaque to whoever keeps it. */
export type HostCursor = string;

export interface HostPage<T> {
  readonly items: readonly T[];
  readonly next: HostCursor | null;
}

export interface Place {
  /** Items to a page; it stays the same through a list, or pages would overlap. */
  readonly size: number;
  readonly page: string;
  /** Items of the page that were given already. */
  readonly skip: number;
  /** Which of several lists, where a host has one for each of its parts. */
  readonly part: string;
}

export function writeCursor({
  size,
  page,
  skip = 0,
  part = '',
}: Partial<Place> & { size: number; page: string }) {
  return Buffer.from(JSON.stringify([size, page, skip, part])).toString('base64url');
}

export function readCursor(cursor: HostCursor | undefined, limit: number, most: number): Place {
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
 * Picks what fits out of a list that the host cannot search, until there is enough. Costs a request for each page, and
 * is for those lists that are not kept.
 */
export async function pick<T>(
  query: { readonly limit: number; readonly page?: HostCursor },
  size: number,
  fits: (item: T) => boolean,
  read: (place: Place) => Promise<{ readonly items: readonly T[]; readonly next: string | null }>,
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
export function slice<T>(
  all: readonly T[],
  query: { readonly limit: number; readonly page?: HostCursor },
): HostPage<T> {
  const place = readCursor(query.page, query.limit, 100);
  const end = place.skip + place.size;
  return {
    items: all.slice(place.skip, end),
    next: end < all.length ? writeCursor({ ...place, skip: end }) : null,
  };
}

export const holds = (search: string) => {
  const wanted = search.toLowerCase();
  return (text: string) => text.toLowerCase().includes(wanted);
};
