/**
 * A small part of the large data set (bench/scale-data.ts), in the real service: its pages are right, and with the
 * statistics of real rows no statement reads a table that grows as a whole.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { calls, findPlaces, type Place, scaleKey } from '../bench/scale-calls.ts';
import { generateScale } from '../bench/scale-data.ts';
import { sql } from '../src/store/sql.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { allStatements, isPlannable } from './support/statements.ts';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

/** What grows with use, and is large enough here that PostgreSQL has a choice. */
const growing = [
  ...['deployments', 'releases', 'operations', 'operation_steps', 'events', 'event_feeds'],
  ...['refresh_tokens', 'notices', 'notification_deliveries', 'webhook_deliveries', 'idempotency_keys'],
];

/**
 * What the schedules take away piece by piece: which way is quicker depends on how much of a table is old.
 * `test/plans.test.ts` sees to it that there is an index.
 */
const isPruning = (text: string) => /delete from \w+ where (?:ctid|id) = any\(array\(/.test(text);

async function startLarge(t: TestContext): Promise<TestApp & { readonly place: Place }> {
  const service = await startTestApp(t, { env: { SLIPWAY_MASTER_KEY: scaleKey } });
  const options = { factor: 0.005, busiest: 1_200, now: service.clock.now(), checked: true };
  await generateScale(service.databaseUrl, options);
  const [place] = await findPlaces(service.databaseUrl, 1, service.clock.now());
  assert.ok(place);
  return { ...service, place };
}

function wholeReads(plan: Plan): string[] {
  const inner = (plan.Plans ?? []).flatMap(wholeReads);
  const table = plan['Relation Name'] ?? '';
  return plan['Node Type'] === 'Seq Scan' && growing.includes(table) ? [table, ...inner] : inner;
}

async function planOf(client: pg.Client, text: string, values?: unknown[]): Promise<Plan> {
  const how = values ? 'format json' : 'generic_plan, format json';
  const { rows } = await client.query(`explain (${how}) ${text}`, values);
  return Object(rows[0])['QUERY PLAN'][0].Plan;
}

async function followPages(service: TestApp, place: Place, path: string): Promise<Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = [];
  let cursor: unknown = null;
  do {
    const query = cursor === null ? '' : `&cursor=${cursor}`;
    const page = await service.call('GET', `${path}?limit=100${query}`, { token: place.token });
    assert.equal(page.status, 200, page.text);
    items.push(...Object(page.body).items);
    cursor = Object(page.body).nextCursor;
  } while (cursor !== null);
  return items;
}

test('a large installation: whole pages, quickly found', async (t) => {
  const service = await startLarge(t);
  const { place } = service;
  const { db } = service.app.store;
  const client = new pg.Client({ connectionString: service.databaseUrl });
  await client.connect();
  service.stops.push(() => client.end());

  await t.test('the data set has what it says', async () => {
    const counts = await db.one(sql`
      select (select count(*)::int from workspaces) as workspaces, (select count(*)::int from environments) as environments,
        (select count(*)::int from deployments) as deployments,
        (select count(*)::int from events where kind = 'log') as lines`);
    assert.deepEqual(counts, { workspaces: 5, environments: 50, deployments: 3_650, lines: 36_500 });
  });

  await t.test('every call answers, and no plan of what it asks reads a growing table whole', async (t) => {
    const spy = t.mock.method(pg.Client.prototype, 'query');
    for (const { what, path } of calls) {
      const answer = await service.call('GET', path(place), { token: place.token });
      assert.equal(answer.status, 200, `${what}: ${answer.text}`);
    }
    const asked = spy.mock.calls.map(({ arguments: [query] }) => Object(query));
    spy.mock.restore();
    const known = new Map<string, unknown[]>();
    for (const { text, values, name } of asked) if (name && isPlannable(text)) known.set(text, values);
    assert.ok(known.size > 30, `${known.size} statements`);
    const problems: string[] = [];
    for (const [text, values] of known) {
      // As it is planned for these values, and as for any: PostgreSQL takes the one or the other.
      const plans = [await planOf(client, text, values), await planOf(client, text)];
      const whole = plans.flatMap(wholeReads);
      if (whole.length > 0) problems.push(`${whole.join(', ')}: ${text}`);
    }
    assert.deepEqual(problems, []);
  });

  await t.test('no statement of the code reads a growing table whole', async () => {
    const problems: string[] = [];
    for (const { where, text } of allStatements()) {
      const shown = text.replace(/\s+/g, ' ');
      if (!isPlannable(text) || where.startsWith('src/store/') || isPruning(shown)) continue;
      const whole = wholeReads(await planOf(client, text));
      if (whole.length > 0) problems.push(`${where}: ${whole.join(', ')}\n    ${shown.slice(0, 220)}`);
    }
    assert.equal(problems.length, 0, `\n${problems.join('\n')}`);
  });

  await t.test(
    'a page deep in a list is found by its cursor, not by reading the pages before it',
    async () => {
      // Some of these lists are short here.
      await client.query('set enable_seqscan = off; set enable_sort = off');
      let lists = 0;
      for (const { where, text } of allStatements()) {
        if (!/ id < \$\d+::uuid\s+order by id desc/.test(text)) continue;
        lists += 1;
        const plan = JSON.stringify(await planOf(client, text));
        assert.match(plan, /"Index Cond":"[^"]*id < \$/, where);
      }
      assert.ok(lists >= 10, `${lists} lists`);
    },
  );

  await t.test('the pages together are the whole list, each once and newest first', async () => {
    const deployments = await followPages(service, place, `/environments/${place.environmentId}/deployments`);
    assert.deepEqual(
      deployments.map(({ number }) => number),
      Array.from({ length: 1_200 }, (_, index) => 1_200 - index),
    );
    const operations = await followPages(service, place, '/operations');
    const stored = await db.rows<{ id: string }>(sql`
      select o.id from operations o join environments e on e.workspace_id = o.workspace_id
      where e.id = ${place.environmentId} order by o.id desc`);
    assert.deepEqual(
      operations.map(({ id }) => id),
      stored.map(({ id }) => id),
    );
  });
});
