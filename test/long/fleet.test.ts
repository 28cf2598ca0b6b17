/**
 * More servers than are taken at a time, simulated (bench/fleet-servers.ts): all are looked at, each in its own moment
 * of the minute, and what crashes on one is told. Also fails where the recording that they answer from is too old.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf, environmentNumber, environmentsEach, fleetId } from '../../bench/fleet-answers.ts';
import { fillFleet, setDue } from '../../bench/fleet-data.ts';
import { simulate } from '../../bench/fleet-simulated.ts';
import { sql } from '../../src/store/sql.ts';
import { startTestApp } from '../support/app.ts';
import { until } from '../support/until.ts';

const servers = 40;

test('every environment of many servers is looked at, and a crash on one of them is told', async (t) => {
  const simulated = await simulate(servers);
  t.after(() => simulated.end());
  const { app, clock, databaseUrl } = await startTestApp(t, {
    env: {
      SLIPWAY_SERVER_NETWORKS: Array.from({ length: servers }, (_, server) => addressOf(server)).join(','),
    },
  });
  const { db } = app.store;
  await fillFleet(databaseUrl, { servers, port: simulated.port, hostKeys: simulated.hostKeys });
  await setDue(databaseUrl, 'now');
  clock.advance(60_000);
  const looked = async () =>
    await db.rows<{ server: string; at: Date }>(sql`
      select server_id as server, look_at as at from environments where seen <> '{}'`);
  const rows = await until(async () => {
    const seen = await looked();
    return seen.length === servers * environmentsEach && seen;
  }, 'every environment to be looked at');
  const moments = Map.groupBy(rows, ({ at }) => at.getTime());
  assert.ok(moments.size > servers / 2, 'they are spread over the minute');
  for (const [at, due] of moments) {
    assert.ok(at > clock.now().getTime() && at <= clock.now().getTime() + 60_000);
    assert.equal(due.length % environmentsEach, 0, 'what stands on one server is due together');
  }

  await until(
    async () => !(await db.exists(sql`select 1 from servers where check_at <= ${clock.now()}`)),
    'every server to be checked',
  );
  assert.deepEqual(await db.rows(sql`select distinct status, problem from servers`), [
    { status: 'ready', problem: null },
  ]);

  const [server, index] = [servers - 3, 2];
  simulated.crash(server, index);
  clock.advance(60_000);
  const broken = await until(async () => {
    const [found] = await db.rows<{ id: string; code: string }>(sql`
      select id, problem ->> 'code' as code from environments where status = 'degraded'`);
    return found;
  }, 'the crash to be told');
  assert.deepEqual(broken, {
    id: fleetId('environment', environmentNumber(server, index)),
    code: 'app_crashed',
  });
  assert.equal(await db.exists(sql`select 1 from operations`), false, 'nothing else was amiss');
  assert.deepEqual((await simulated.ask()).unknown, [], 'record anew: bench/fleet-record.ts');
});
