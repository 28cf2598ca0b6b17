/** The kinds of services that there are, and what is asked of them by name. */
import type { ServiceKind } from '../../../analysis/result.ts';
import { type Kind, majorOf } from './kind.ts';
import { mariadb } from './mariadb.ts';
import { mongodb } from './mongodb.ts';
import { mysql } from './mysql.ts';
import { postgres } from './postgres.ts';
import { redis } from './redis.ts';

export const kinds: Readonly<Record<ServiceKind, Kind>> = { postgres, mysql, mariadb, mongodb, redis };

export function imageOf(kind: ServiceKind, version: string): string {
  return `${kinds[kind].image}:${version}`;
}

/** Of the versions that we run, the one that is meant: `17.2` is 17, `10.6.18` is 10.6. Undefined where none is. */
export function fittingVersion(kind: ServiceKind, version: string | null): string | undefined {
  if (version === null) return undefined;
  const { versions } = kinds[kind];
  const parts = version.split('.');
  for (let length = parts.length; length > 0; length -= 1) {
    const shorter = parts.slice(0, length).join('.');
    if (versions.includes(shorter)) return shorter;
  }
  // The newest of that major version: data and clients of the older ones fit.
  return parts.length === 1 ? versions.findLast((each) => majorOf(each) === majorOf(version)) : undefined;
}
