/**
 * Every statement of the code, planned by a real PostgreSQL as if every table were too large to be read as a whole: it
 * must find its rows by an index. Those that look at everything by intention are named here with their reason.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../src/store/database.ts';
import { migratedDatabase } from './support/database.ts';
import { allStatements, isPlannable } from './support/statements.ts';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Plan[];
}

/** Not part of any request: how it begins, and who runs it how often. */
const wholeByIntention: readonly (readonly [file: string, begins: string, why: string])[] = [
  ['src/areas/accounts/queries.ts', 'select 1 from accounts limit 1', 'stops at the first row that there is'],
  [
    'src/areas/backups/retention/deletion-queries.ts',
    'delete from backup_destinations',
    'once an hour: places that nothing lies at any more; there is a handful for each environment',
  ],
  [
    'src/areas/domains/certificate-queries.ts',
    'update certificates c set warned_at',
    'once an hour: when a certificate is near its end depends on its own length',
  ],
  [
    'src/areas/projects/queries.ts',
    'select distinct workspace_id as "workspaceId", clone_url',
    'once a day: which mirrors still belong to a project',
  ],
  [
    'src/store/',
    '',
    'migrating, rotating keys, and Slipway’s own backup look at everything, by hand or at the start',
  ],
];

/** Reads of a whole table, or of a whole index that holds all of it. */
function wholeReads(plan: Plan, partial: ReadonlySet<string>): string[] {
  const inner = (plan.Plans ?? []).flatMap((each) => wholeReads(each, partial));
  const table = plan['Relation Name'] ?? '';
  const index = plan['Index Name'] ?? '';
  const isWhole =
    plan['Node Type'] === 'Seq Scan' ||
    (/^Index( Only)? Scan$|^Bitmap Index Scan$/.test(plan['Node Type']) &&
      plan['Index Cond'] === undefined &&
      !partial.has(index));
  return isWhole ? [`${plan['Node Type']} of ${table || index}`, ...inner] : inner;
}

async function planOf(db: Database, text: string): Promise<Plan> {
  return db.session(async (connection) => {
    await connection.raw('set enable_seqscan = off');
    const [row] = await connection.raw(`explain (generic_plan, format json) ${text}`);
    return Object(row)['QUERY PLAN'][0].Plan;
  });
}

test('every statement finds its rows by an index, or is named as one that looks at everything', async (t) => {
  const { db } = await migratedDatabase(t);
  const statements = allStatements();
  assert.ok(statements.length > 300, `${statements.length} statements`);
  const partialRows = await db.raw(
    'select indexrelid::regclass::text as name from pg_index where indpred is not null',
  );
  const partial = new Set(partialRows.map(({ name }) => String(name)));
  const problems: string[] = [];
  const isMeant = (where: string, text: string) =>
    wholeByIntention.some(([file, begins]) => where.startsWith(file) && text.startsWith(begins));
  let planned = 0;
  for (const { where, text } of statements) {
    if (!isPlannable(text)) continue;
    const shown = text.replace(/\s+/g, ' ');
    try {
      const whole = wholeReads(await planOf(db, text), partial);
      planned += 1;
      if (whole.length > 0 && !isMeant(where, shown))
        problems.push(`${where}: ${whole.join(', ')}\n    ${shown.slice(0, 220)}`);
    } catch (error) {
      problems.push(`${where}: ${String(error)}\n    ${shown.slice(0, 220)}`);
    }
  }
  t.diagnostic(`${planned} statements planned`);
  assert.equal(problems.length, 0, `\n${problems.join('\n')}`);
});
