import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import { type Body, type DeployScene, startDeployScene, succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { plainApp, plainSettings, tracesOf, Watchers } from '../support/plain-app.ts';
import { until } from '../support/until.ts';

const lab = await openLab();
const burst = 20;

interface Row {
  readonly id: string;
  readonly number: number;
  readonly status: string;
  readonly trigger: string;
  readonly supersededBy: string | null;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly sha: string | null;
}

function rowsOf({ git }: DeployScene, environmentId: string): Promise<Row[]> {
  return git.service.app.store.db.rows<Row>(sql`
    select id, number, status, trigger, superseded_by as "supersededBy", started_at as "startedAt",
      finished_at as "finishedAt", commit->>'sha' as sha
    from deployments where environment_id = ${environmentId} order by number`);
}

/** Looks again and again at how many are at work and how many wait; the most of each. */
class Lookout {
  atWork = 0;
  held = 0;
  looks = 0;
  #goesOn = true;
  readonly #ended: Promise<void>;

  constructor(t: TestContext, scene: DeployScene, environmentId: string) {
    t.after(() => this.end());
    this.#ended = this.#look(scene, environmentId);
  }

  async #look({ git }: DeployScene, environmentId: string): Promise<void> {
    while (this.#goesOn) {
      const row = await git.service.app.store.db.one<{ atWork: number; held: number }>(sql`
        select (select count(*)::int from deployments where environment_id = ${environmentId}
            and status in ('preparing', 'building', 'starting', 'switching')) as "atWork",
          (select count(*)::int from operations where queue_key = ${environmentId} and finished_at is null
            and lease_until > now()) as held`);
      this.atWork = Math.max(this.atWork, row?.atWork ?? 0);
      this.held = Math.max(this.held, row?.held ?? 0);
      this.looks += 1;
      await sleep(3);
    }
  }

  async end(): Promise<void> {
    this.#goesOn = false;
    await this.#ended;
  }
}

function allEnded(scene: DeployScene, environmentId: string, count: number): Promise<Row[]> {
  return until(async () => {
    const rows = await rowsOf(scene, environmentId);
    return rows.length >= count && rows.every(({ finishedAt }) => finishedAt !== null) && rows;
  }, 'all of them to end');
}

/** The newest is live; one is superseded only where it never began, and each names one that came after it. */
async function newestWins(scene: DeployScene, environmentId: string, rows: readonly Row[]): Promise<Row> {
  assert.deepEqual(
    rows.map(({ number }) => number),
    rows.map((_, index) => index + 1),
    'numbers without gaps',
  );
  const newest = rows.at(-1) ?? assert.fail('there are none');
  assert.equal(newest.status, 'succeeded');
  for (const { number, status, supersededBy, startedAt } of rows) {
    const by = rows.find(({ id }) => id === supersededBy);
    if (status === 'superseded')
      assert.ok(by && by.number > number && startedAt === null, `number ${number}`);
    else assert.deepEqual([status, supersededBy], ['succeeded', null], `number ${number}`);
  }
  const { currentDeploymentId, status } = await scene.call('GET', `/environments/${environmentId}`);
  assert.deepEqual([currentDeploymentId, status], [newest.id, 'running']);
  for (const { id } of rows) {
    const traces = await tracesOf(scene.server, id);
    if (id !== newest.id) assert.deepEqual(traces, [], `left of ${id}`);
  }
  return newest;
}

const countOf = (rows: readonly Row[], wanted: string) =>
  rows.filter(({ status }) => status === wanted).length;

test('of a burst the newest is live, the rest is overtaken, and never two are at work', async (t) => {
  const scene = await startDeployScene(t, lab, { env: { SLIPWAY_LIMIT_TRIGGERS: '1000' } });
  const wish = { files: { ...plainApp('COPY page ./'), page: '0' }, settings: plainSettings };
  const { environmentId, repository, deployment } = await scene.deployed(wish);
  succeeded(deployment);
  const watchers = new Watchers(t, await scene.url(environmentId));
  const lookout = new Lookout(t, scene, environmentId);
  const [owner = '', name = ''] = repository.split('/');

  await t.test('20 pushes, told by the webhook', async () => {
    const on = await scene.call('PATCH', `/environments/${environmentId}/auto-deploy`, { enabled: true });
    assert.equal(Object(on.webhook).installed, true, JSON.stringify(on.webhook));
    let sha = '';
    for (let push = 1; push <= burst; push += 1) {
      const files = { page: String(push) };
      const made = await scene.git.host.commit(owner, name, {
        branch: 'main',
        message: `Push ${push}`,
        files,
      });
      sha = made.sha;
    }
    await scene.git.host.idle();
    const rows = await allEnded(scene, environmentId, 2);
    const newest = await newestWins(scene, environmentId, rows);
    assert.equal(newest.sha, sha, 'the last push is live');
    // A push that the branch has left behind when it is decided on makes no deployment at all.
    assert.ok(rows.length >= 2 && rows.length <= burst + 1, `${rows.length} deployments`);
    assert.ok(rows.slice(1).every(({ trigger }) => trigger === 'push'));
    assert.equal(countOf(rows, 'superseded') + countOf(rows, 'succeeded'), rows.length);
    await scene.call('PATCH', `/environments/${environmentId}/auto-deploy`, { enabled: false });
  });

  await t.test('20 calls at once', async () => {
    const before = (await rowsOf(scene, environmentId)).length;
    const path = `/environments/${environmentId}/deployments`;
    const made = await Promise.all(Array.from({ length: burst }, () => scene.call('POST', path, {})));
    assert.equal(new Set(made.map(({ id }) => id)).size, burst);
    const rows = await allEnded(scene, environmentId, before + burst);
    assert.equal(rows.length, before + burst);
    await newestWins(scene, environmentId, rows);
    assert.ok(countOf(rows.slice(before), 'succeeded') <= 3, 'only those that had begun, and the newest');
  });

  await t.test('20 calls with one key are one deployment', async () => {
    const before = (await rowsOf(scene, environmentId)).length;
    const headers = { 'idempotency-key': newId() };
    const call = (body: Body) =>
      scene.git.service.call('POST', `/environments/${environmentId}/deployments`, {
        token: scene.token,
        body,
        headers,
      });
    const answers = await Promise.all(Array.from({ length: burst }, () => call({})));
    const taken = answers.filter(({ status }) => status === 202);
    assert.ok(taken.length > 0);
    assert.equal(new Set(taken.map(({ body }) => body.id)).size, 1);
    for (const { status, body } of answers) {
      if (status !== 202) assert.deepEqual([status, body.code], [409, 'idempotency_in_progress']);
    }
    const again = await call({});
    assert.deepEqual([again.status, again.body.id], [202, taken[0]?.body.id]);
    assert.equal((await call({ branch: 'main' })).body.code, 'idempotency_mismatch');
    assert.equal((await allEnded(scene, environmentId, before + 1)).length, before + 1);
  });

  await lookout.end();
  assert.ok(lookout.looks > 100, `${lookout.looks} looks`);
  assert.deepEqual([lookout.atWork, lookout.held], [1, 1], 'the most that were at work at once');
  assert.deepEqual(watchers.failures, []);
});
