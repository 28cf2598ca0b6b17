/** Which services a variable could have the address of: `DATABASE_URL` may be any database, `REDIS_HOST` is one. */
import type { ServiceKind } from '../result.ts';
import { serviceOf } from '../variables/names.ts';

export const anyDatabase: readonly ServiceKind[] = ['postgres', 'mysql', 'mariadb', 'mongodb'];

export function servicesOfVariable(key: string): readonly ServiceKind[] {
  const kind = serviceOf(key)?.kind;
  if (kind === undefined) return [];
  if (kind === 'database') return anyDatabase;
  // Their drivers and variables are the same.
  return kind === 'mysql' || kind === 'mariadb' ? ['mysql', 'mariadb'] : [kind];
}
