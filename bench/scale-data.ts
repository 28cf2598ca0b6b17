/**
 * Fills a migrated, empty database as a large installation has it. With the factor 1: 1,000 workspaces, 10,000
 * environments, 1,000,000 deployments and 10,000,000 lines of log, with all that goes with them.
 *
 *   node bench/scale-data.ts --url postgres://… [--factor 0.01] [--seed 1]
 */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { readArguments } from '../scripts/arguments.ts';

export interface ScaleOptions {
  /** 1 is the whole of it. */
  readonly factor: number;
  readonly seed?: number;
  /** Deployments of the one environment in a hundred that is busy; the others have 50. */
  readonly busiest?: number;
  readonly now?: Date;
  /** Whether every reference is checked; otherwise only a superuser may, and it takes a fraction of the time. */
  readonly checked?: boolean;
  readonly progress?: (line: string) => void;
}

interface Section {
  readonly name: string;
  readonly text: string;
}

/** Everything in one transaction: an interrupted run leaves the database as it was. */
export async function generateScale(url: string, options: ScaleOptions): Promise<void> {
  const { factor, seed = 1, busiest = 5_050, now = new Date(), checked = false } = options;
  const { progress = () => undefined } = options;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const workspaces = Math.max(1, Math.round(factor * 1_000));
    const settings = { workspaces, seed, busiest, now: now.toISOString() };
    for (const [name, value] of Object.entries(settings))
      await client.query('select set_config($1, $2, false)', [`scale.${name}`, String(value)]);
    await client.query("set work_mem = '256MB'; set maintenance_work_mem = '512MB'; set timezone = 'UTC'");
    await client.query('begin');
    if (!checked) await client.query('set local session_replication_role = replica');
    const indexes = await takeIndexes(client);
    for (const { name, text } of sections()) {
      const began = performance.now();
      await client.query(text);
      progress(`${name}: ${Math.round(performance.now() - began)} ms`);
    }
    const began = performance.now();
    for (const definition of indexes) await client.query(definition);
    await client.query('commit');
    progress(`indexes: ${Math.round(performance.now() - began)} ms`);
    // Also what the visibility of rows needs, as autovacuum would have done it meanwhile.
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

const large = ['deployments', 'events', 'event_feeds', 'operations', 'operation_steps', 'releases'];

/**
 * Emptied here, though they are empty: what is then written in the same transaction needs no log where there are no
 * replicas. Their indexes are made at the end, at once; but for the keys that other tables refer to.
 */
async function takeIndexes(client: pg.Client): Promise<string[]> {
  await client.query(`truncate ${large.join(', ')}`);
  const { rows } = await client.query<{ take: string; restore: string }>(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as take,
       format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as restore
     from pg_constraint c
     where conrelid = any($1::regclass[]) and contype in ('p', 'u')
       and not exists (select from pg_constraint f where f.contype = 'f' and f.conindid = c.conindid)
     union all
     select format('drop index %s', indexrelid::regclass), pg_get_indexdef(indexrelid) from pg_index i
     where indrelid = any($1::regclass[]) and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`,
    [large],
  );
  for (const { take } of rows) await client.query(take);
  return rows.map(({ restore }) => restore);
}

function sections(): Section[] {
  const text = readFileSync(new URL('scale-data.sql', import.meta.url), 'utf8');
  return text
    .split(/^--- /m)
    .slice(1)
    .map((each) => {
      const end = each.indexOf('\n');
      return { name: each.slice(0, end), text: each.slice(end) };
    });
}

if (import.meta.main) {
  const options = { url: { type: 'string' }, factor: { type: 'string' }, seed: { type: 'string' } } as const;
  const usage = 'Usage: node bench/scale-data.ts --url postgres://… [--factor 0.01] [--seed 1]';
  const { values } = readArguments({ options }, usage);
  if (values.url === undefined) throw new Error('--url is needed: of a migrated, empty database');
  await generateScale(values.url, {
    factor: Number(values.factor ?? '1'),
    seed: Number(values.seed ?? '1'),
    progress: (line) => process.stdout.write(`${line}\n`),
  });
}
