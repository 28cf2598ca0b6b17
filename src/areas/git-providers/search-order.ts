/** In which order a search shows what it found, and how one goes on after a page. Pure. */

import type { HostRepository } from '../../adapters/git-hosts/git-hosts.ts';
import type { GitProviderId } from '../../ids.ts';
import { badCursor } from '../../page.ts';

export interface FoundRepository extends HostRepository {
  readonly providerId: GitProviderId;
}

/** The better match, then the newer push; the rest only makes the order a whole one. */
type Place = readonly [rank: number, minusPushedAt: number, fullName: string, providerId: string];

/** Every word has to be somewhere in the name; the cursor's place is the last one that was shown. */
export function allAfter(
  repositories: readonly FoundRepository[],
  q: string,
  after: Place | undefined,
): FoundRepository[] {
  const words = wordsOf(q);
  return repositories
    .filter(({ fullName }) => words.every((word) => fullName.toLowerCase().includes(word)))
    .map((repository) => ({ repository, place: placeOf(repository, words) }))
    .filter(({ place }) => after === undefined || compare(place, after) > 0)
    .sort((one, other) => compare(one.place, other.place))
    .map(({ repository }) => repository);
}

export function cursorAfter(repository: FoundRepository, q: string): string {
  return Buffer.from(JSON.stringify(placeOf(repository, wordsOf(q)))).toString('base64url');
}

export function readSearchCursor(cursor: string): Place {
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw badCursor();
  }
  if (!Array.isArray(read) || read.length !== 4) throw badCursor();
  const [rank, minusPushedAt, fullName, providerId]: unknown[] = read;
  if (typeof rank !== 'number' || typeof minusPushedAt !== 'number') throw badCursor();
  if (typeof fullName !== 'string' || typeof providerId !== 'string') throw badCursor();
  return [rank, minusPushedAt, fullName, providerId];
}

function wordsOf(q: string): string[] {
  return q
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

function placeOf({ name, fullName, pushedAt, providerId }: FoundRepository, words: readonly string[]): Place {
  return [rankOf(name.toLowerCase(), words), -(pushedAt?.getTime() ?? 0), fullName, providerId];
}

function rankOf(name: string, [first, ...others]: readonly string[]): number {
  if (first === undefined || others.length > 0) return 0;
  if (name === first) return 0;
  if (name.startsWith(first)) return 1;
  return name.includes(first) ? 2 : 3;
}

function compare(one: Place, other: Place): number {
  for (const at of [0, 1] as const) if (one[at] !== other[at]) return one[at] - other[at];
  for (const at of [2, 3] as const) if (one[at] !== other[at]) return one[at] < other[at] ? -1 : 1;
  return 0;
}
