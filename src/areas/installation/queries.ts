/** The SQL of the installation. */
import type { Config } from '../../config.ts';
import type { AccountId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';

export function findChanged(db: Queryable) {
  return db.one<{ registration: Config['registration'] | null }>(sql`
    select registration from installation where sole`);
}

/** Changes come one after the other. */
export async function lockInstallation(tx: Queryable, now: Date): Promise<void> {
  await tx.run(sql`insert into installation (updated_at) values (${now}) on conflict do nothing`);
  await tx.run(sql`select 1 from installation where sole for update`);
}

export function setRegistration(tx: Queryable, registration: Config['registration'] | null, now: Date) {
  return tx.run(sql`
    update installation set registration = ${registration}, updated_at = ${now} where sole`);
}

export function listOperators(db: Queryable) {
  return db.rows<{ id: AccountId; email: string; name: string | null }>(sql`
    select id, email, name from accounts where operator order by id`);
}

/** These and no others; answers with those that are no accounts. */
export async function setOperators(
  tx: Queryable,
  ids: readonly AccountId[],
): Promise<ReadonlySet<AccountId>> {
  await tx.run(sql`update accounts set operator = false where operator and id <> all(${ids}::uuid[])`);
  const rows = await tx.rows<{ id: AccountId }>(sql`
    update accounts set operator = true where id = any(${ids}::uuid[]) returning id`);
  const found = new Set(rows.map(({ id }) => id));
  return new Set(ids.filter((id) => !found.has(id)));
}

const belowAllIds = '00000000-0000-0000-0000-000000000000';

/** Not beyond ten thousand: that there are many is enough for a look. */
export async function countAccounts(db: Queryable): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*)::int as count
    from (select 1 from accounts where id > ${belowAllIds}::uuid limit 10000) counted`);
  return row?.count ?? 0;
}
