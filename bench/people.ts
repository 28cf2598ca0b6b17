/** What tokens, members and the audit log cost whoever reads, beside the same call of somebody who is alone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { createLog } from '../src/log.ts';
import { connectDatabase, type Database } from '../src/store/database.ts';
import { sql } from '../src/store/sql.ts';
import { type Figure, median, milliseconds, perSecond } from './figure.ts';
import { signIn } from './http.ts';
import { startService } from './service.ts';

const [rounds, secondsEach, asks] = [5, 4, 300];

type Headers = Readonly<Record<string, string>>;

export async function benchPeople(): Promise<Figure[]> {
  const service = await startService();
  const password = readFileSync(join(service.dataDir, 'postgres.password'), 'utf8');
  const host = join(service.dataDir, 'postgres');
  const db = connectDatabase({ host, user: 'slipway', password, database: 'postgres' }, createLog('silent'));
  try {
    const { token, accountId } = await signIn(service.url, service.dataDir, 1);
    const api = `${service.url}/api/v1`;
    const person = { authorization: `Bearer ${token}` };
    const call = async (path: string, body?: unknown): Promise<Record<string, unknown>> => {
      const json = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const headers = { ...person, ...(body !== undefined && { 'content-type': 'application/json' }) };
      const answer = await fetch(`${api}${path}`, { ...json, headers });
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return Object(await answer.json());
    };
    const own = String(Object(Object((await call('/workspaces')).items)[0]).id);
    const shared = String((await call('/workspaces', { name: 'Shared' })).id);
    const { token: apiToken } = await call('/api-tokens', { name: 'bench', abilities: ['read'] });
    const alone: Headers = { ...person, 'slipway-workspace': own };
    await addMembers(db, shared, 200);
    const [sessions, tokens, members] = await inTurns(`${api}/projects`, [
      alone,
      { authorization: `Bearer ${apiToken}` },
      { ...person, 'slipway-workspace': shared },
    ]);
    const beside = { name: 'a session, alone', amount: perSecond(sessions ?? Number.NaN) };
    // At most 1.1 of the time of a read.
    const aim = { ratioAtLeast: 1 / 1.1 };
    await addMembers(db, shared, 1_000);
    await addEntries(db, shared, accountId, 10_000);
    const large: Headers = { ...person, 'slipway-workspace': shared };
    return [
      { what: 'reads with an API token', slipway: perSecond(tokens ?? Number.NaN), beside, aim },
      { what: 'reads as one of 200 members', slipway: perSecond(members ?? Number.NaN), beside, aim },
      await listed(
        'members, 1,000 of them',
        [`${api}/workspaces/${shared}/members?limit=1`, large],
        [`${api}/workspaces/${own}/members?limit=1`, alone],
      ),
      await listed(
        'audit log, 10,000 entries',
        [`${api}/audit?limit=1`, large],
        [`${api}/audit?limit=1`, alone],
      ),
    ];
  } finally {
    await db.close();
    await service.stop();
  }
}

/** The median rate of each, one after the other in every round. */
async function inTurns(url: string, callers: readonly Headers[]): Promise<number[]> {
  const rates = callers.map((): number[] => []);
  for (let round = 0; round <= rounds; round += 1)
    for (const [index, headers] of callers.entries()) {
      const result = await autocannon({
        url,
        headers: { ...headers },
        connections: 64,
        duration: secondsEach,
      });
      if (result.non2xx + result.errors > 0) throw new Error(`${result.non2xx} bad answers from ${url}`);
      // The first round warms up.
      if (round > 0) rates[index]?.push(result.requests.average);
    }
  return rates.map(median);
}

type Ask = readonly [url: string, headers: Headers];

async function listed(what: string, large: Ask, empty: Ask): Promise<Figure> {
  const took: [number[], number[]] = [[], []];
  for (let left = asks + 50; left > 0; left -= 1)
    for (const [index, [url, headers]] of [large, empty].entries()) {
      const began = performance.now();
      const answer = await fetch(url, { headers });
      await answer.text();
      if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
      if (left <= asks) took[index]?.push(performance.now() - began);
    }
  return {
    what: `${what}: a page of the list, median`,
    slipway: milliseconds(median(took[0])),
    beside: { name: 'of an empty workspace', amount: milliseconds(median(took[1])) },
    aim: { ratioAtMost: 1.2 },
  };
}

async function addMembers(db: Database, workspaceId: string, upTo: number): Promise<void> {
  await db.run(sql`
    with made as (
      insert into accounts (id, email, email_verified_at, created_at)
      select gen_random_uuid(), 'member-' || number || '@example.com', now(), now()
      from generate_series((select count(*) from accounts), ${upTo}) number
      on conflict (email) do nothing returning id)
    insert into memberships (workspace_id, account_id, role, created_at)
    select ${workspaceId}, id, 'member', now() from made`);
  await db.run(sql`analyze memberships`);
}

async function addEntries(
  db: Database,
  workspaceId: string,
  accountId: string,
  count: number,
): Promise<void> {
  await db.run(sql`
    insert into audit_entries (id, workspace_id, at, actor_kind, account_id, actor_name, action)
    select gen_random_uuid(), ${workspaceId}, now(), 'person', ${accountId}, 'bench@example.com', 'updateProject'
    from generate_series(1, ${count})`);
  await db.run(sql`analyze audit_entries`);
}
