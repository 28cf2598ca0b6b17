/** What is taken away with age, and what never is: on a small part of the large data set. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { findPlaces, type Place, scaleKey } from '../bench/scale-calls.ts';
import { generateScale } from '../bench/scale-data.ts';
import { pruneAccounts } from '../src/areas/accounts/sessions.ts';
import { pruneDeployments } from '../src/areas/deployments/prune-deployments.ts';
import { after, day } from '../src/clock.ts';
import { appendEvents, pruneEvents } from '../src/events/events.ts';
import type { WorkspaceId } from '../src/ids.ts';
import { pruneOperations } from '../src/operations/prune-schedule.ts';
import type { Database } from '../src/store/database.ts';
import { type Query, sql } from '../src/store/sql.ts';
import { startTestApp, type TestApp } from './support/app.ts';

interface Scene extends TestApp {
  readonly db: Database;
  readonly place: Place;
  readonly environmentId: string;
  count(query: Query): Promise<number>;
}

/** Two workspaces, 20 environments: one with 300 deployments, the others with 50, over 200 days. */
async function startScene(t: TestContext): Promise<Scene> {
  const service = await startTestApp(t, { env: { SLIPWAY_MASTER_KEY: scaleKey } });
  await generateScale(service.databaseUrl, { factor: 0.002, busiest: 300, now: service.clock.now() });
  const [place] = await findPlaces(service.databaseUrl, 1, service.clock.now());
  assert.ok(place);
  const { db } = service.app.store;
  const count = async (query: Query) => (await db.one<{ count: number }>(query))?.count ?? Number.NaN;
  return { ...service, db, place, environmentId: place.environmentId, count };
}

function numbersOf({ db }: Scene, environmentId: string): Promise<number[]> {
  return db
    .rows<{ number: number }>(
      sql`select number from deployments where environment_id = ${environmentId} order by number`,
    )
    .then((rows) => rows.map(({ number }) => number));
}

test('what has had its time', async (t) => {
  const scene = await startScene(t);

  await t.test('where a deployment is at work, nothing is taken away', async () => {
    const { db, environmentId, clock } = scene;
    await db.run(sql`
      update deployments set status = 'building', finished_at = null
      where environment_id = ${environmentId} and number = 300`);
    assert.equal(await pruneDeployments(db, 100), 0);
    await db.run(sql`
      update deployments set status = 'succeeded', finished_at = ${clock.now()}
      where environment_id = ${environmentId} and number = 300`);
  });

  await t.test(
    'spent tokens go once an unspent one of their time would have ended; the unspent stay',
    async () => {
      const { db, count, clock } = scene;
      const unspent = sql`select count(*)::int from refresh_tokens where spent_at is null`;
      const old = sql`select count(*)::int from refresh_tokens where spent_at < ${after(clock.now(), -30 * day)}`;
      const had = await count(unspent);
      assert.ok((await count(old)) > 0);
      await pruneAccounts({ db, clock });
      assert.equal(await count(old), 0);
      assert.equal(await count(unspent), had);
    },
  );

  await t.test(
    'events go after their time, and a feed that is over with its last one; its stream has ended',
    async () => {
      const { db, count, clock, place, environmentId, call } = scene;
      const before = after(clock.now(), -14 * day);
      const expected = await count(sql`select count(*)::int from events where at < ${before}`);
      assert.ok(expected > 10_000);
      assert.equal(await pruneEvents(db, before), expected);
      assert.equal(await count(sql`select count(*)::int from events where at < ${before}`), 0);
      const bare = sql`
      select count(*)::int from event_feeds f where id <> workspace_id
        and not exists (select from events e where e.workspace_id = f.workspace_id and e.feed_id = f.id)`;
      assert.equal(await count(bare), 0, 'no feed without events');
      const whole = sql`
      select count(*)::int from event_feeds f where id = workspace_id and pruned_to + (
        select count(*) from events e where e.workspace_id = f.workspace_id and e.feed_id = f.id) <> position`;
      assert.equal(await count(whole), 0, 'a workspace knows how far its feed begins');
      const { token } = place;
      const deployment = `/environments/${environmentId}/deployments/${place.ids.deep}`;
      for (const path of [`${deployment}/status`, `${deployment}/status?after=12`]) {
        assert.equal((await call('GET', path, { token })).status, 204, path);
      }
      assert.deepEqual((await call('GET', `${deployment}/logs`, { token })).body, {
        items: [],
        nextCursor: null,
      });
    },
  );

  await t.test(
    'who removes events waits for nobody who appends, and leaves that feed for the next time',
    async () => {
      const { db, count, clock, environmentId } = scene;
      const row = await db.one<{ id: WorkspaceId }>(
        sql`select workspace_id as id from environments where id = ${environmentId}`,
      );
      assert.ok(row);
      const before = after(clock.now(), -7 * day);
      const workspaceId = row.id;
      const ours = sql`select count(*)::int from events where feed_id = ${workspaceId} and at < ${before}`;
      const had = await count(ours);
      assert.ok(had > 0);
      await db.transaction(async (tx) => {
        await appendEvents(tx, { workspaceId, feedId: workspaceId }, [{ kind: 'news', data: {} }]);
        await pruneEvents(db, before);
      });
      assert.equal(await count(ours), had);
      assert.equal(await pruneEvents(db, before), had);
    },
  );

  await t.test(
    'operations go after their time with their steps, and nothing names one that is gone',
    async () => {
      const { app, db, count, clock, place, environmentId, call } = scene;
      const before = after(clock.now(), -90 * day);
      const ofServer = sql`
      insert into operations (workspace_id, id, kind, subject_type, subject_id, server_id, input, state, created_at, finished_at)
      select workspace_id, gen_random_uuid(), 'server_harden', 'server', server_id, server_id, '{}', 'succeeded',
        ${after(before, -day)}, ${after(before, -day)}
      from environments where id = ${environmentId}`;
      await db.run(ofServer);
      const old = sql`select count(*)::int from operations where finished_at < ${before}`;
      const steps = sql`select count(*)::int from operation_steps s where not exists (
      select from operations o where o.id = s.operation_id)`;
      const expected = (await count(old)) - 1;
      assert.ok(expected > 300);
      const kinds = app.contexts.deployments.kinds;
      assert.equal(await pruneOperations(db, kinds, before), expected);
      assert.equal(await count(old), 1, 'that of the server stays: a hardening is undone by it');
      assert.equal(await count(steps), 0);
      const dangling = sql`
      select count(*)::int from deployments d where operation_id is not null
        and not exists (select from operations o where o.id = d.operation_id)`;
      assert.equal(await count(dangling), 0);
      const path = `/environments/${environmentId}/deployments?limit=100&cursor=${Buffer.from(place.ids.deep ?? '').toString('base64url')}`;
      const page = await call('GET', path, { token: place.token });
      assert.equal(page.status, 200, page.text);
      assert.equal(Object(page.body).items.at(-1).operationId, null);
    },
  );

  await t.test('of deployments the newest stay, with their releases and no others', async () => {
    const { db, count, environmentId } = scene;
    assert.equal(await pruneDeployments(db, 100), 200);
    assert.deepEqual(
      await numbersOf(scene, environmentId),
      Array.from({ length: 100 }, (_, index) => 201 + index),
    );
    assert.equal(await count(sql`select count(*)::int from deployments`), 100 + 19 * 50);
    const unused = sql`
      select count(*)::int from releases r where not exists (select from deployments d where d.release_id = r.id)`;
    assert.equal(await count(unused), 0);
    const missing = sql`
      select count(*)::int from deployments d
      where release_id is not null and not exists (select from releases r where r.id = d.release_id)`;
    assert.equal(await count(missing), 0);
    assert.equal(await pruneDeployments(db, 100), 0, 'a second time there is nothing to do');
  });

  await t.test(
    'what is live, what can be gone back to, and what a kept one went back to stay, however old',
    async () => {
      const { db, environmentId } = scene;
      // Of those left, 207 is live; of all after 240 none succeeded; 290 went back to 220.
      await db.run(
        sql`update deployments set status = 'succeeded' where environment_id = ${environmentId} and number in (207, 236, 237, 238, 239, 240)`,
      );
      await db.run(sql`
      update deployments set status = 'failed', release_id = null where environment_id = ${environmentId} and number > 240`);
      await db.run(sql`
      update deployments set rollback_of = (select id from deployments where environment_id = ${environmentId} and number = 220)
      where environment_id = ${environmentId} and number = 290`);
      await db.run(sql`
      update deployments d set release_id = coalesce(d.release_id, (
        select id from releases where environment_id = ${environmentId} order by id limit 1))
      where environment_id = ${environmentId} and number in (207, 236, 237, 238, 239, 240)`);
      await db.run(sql`
      update releases r set image = 'image-' || d.number from deployments d
      where d.environment_id = ${environmentId} and d.release_id = r.id`);
      await db.run(sql`
      update environments set current_deployment = d.id, current_release = d.release_id
      from deployments d where d.environment_id = ${environmentId} and d.number = 207 and environments.id = ${environmentId}`);
      await pruneDeployments(db, 50);
      const left = await numbersOf(scene, environmentId);
      assert.deepEqual(
        left.slice(-50),
        Array.from({ length: 50 }, (_, index) => 251 + index),
      );
      const old = left.slice(0, -50);
      for (const number of [207, 220, 240, 239]) assert.ok(old.includes(number), `${number} of ${old}`);
      assert.ok(old.length <= 7, `${old}`);
      const live = await db.one(sql`
      select 1 from environments e join releases r on r.id = e.current_release where e.id = ${environmentId}`);
      assert.ok(live, 'the release that is live');
    },
  );
});
