import assert from 'node:assert/strict';
import { test } from 'node:test';
import { followDeployment } from '../src/areas/deployments/follow-deployment.ts';
import { setStatus } from '../src/areas/environments/environment-state.ts';
import { readEvents } from '../src/events/events.ts';
import { type DeploymentId, newId } from '../src/ids.ts';
import type { StateChange } from '../src/operations/definition.ts';
import { sql } from '../src/store/sql.ts';
import { type EnvironmentScene, startEnvironmentScene } from './support/environments.ts';
import { assertProblem } from './support/problems.ts';
import { until } from './support/until.ts';

const fault = { code: 'build_failed', step: 'build', message: 'It failed.', hint: null, evidence: 'x' };

/** A deployment as it is in the database, without an operation behind it. */
async function queued(scene: EnvironmentScene, number: number, status = 'queued'): Promise<DeploymentId> {
  const id = newId<DeploymentId>();
  await scene.service.app.store.db.run(sql`
    insert into deployments (workspace_id, id, environment_id, number, trigger, wanted, status, server_id, queued_at)
    values (${scene.workspaceId}, ${id}, ${scene.environmentId}, ${number}, 'manual', '{"branch":"main"}', ${status},
      ${newId()}, now())`);
  return id;
}

function follower(scene: EnvironmentScene, deploymentId: DeploymentId) {
  const { service, workspaceId, environmentId } = scene;
  const { db } = service.app.store;
  return (change: StateChange) =>
    db.transaction((tx) =>
      followDeployment(tx, service.clock, workspaceId, { deploymentId, environmentId }, change),
    );
}

async function shown(scene: EnvironmentScene, id: DeploymentId): Promise<Record<string, unknown>> {
  const { body } = await scene.ask('GET', `/environments/${scene.environmentId}/deployments/${id}`);
  return body;
}

async function environment(scene: EnvironmentScene): Promise<unknown[]> {
  const { body } = await scene.ask('GET', `/environments/${scene.environmentId}`);
  return [body.status, Object(body.problem).code ?? null];
}

const stepsOf = (body: Record<string, unknown>) =>
  Array.from(Object(body.steps), ({ name, status }: Record<string, string>) => `${name} ${status}`);

test('a deployment shows the course of its operation, forwards only, and ends its stream', async (t) => {
  const scene = await startEnvironmentScene(t);
  await scene.released();
  const id = await queued(scene, 1);
  const follow = follower(scene, id);
  const seen: unknown[] = [];
  const steps = [
    'fetch',
    'plan',
    'send',
    'build',
    'create-release',
    'services',
    'release',
    'start',
    'health',
    'processes',
  ];
  steps.push('prove', 'switch', 'crons', 'promote');
  for (const step of [null, ...steps]) {
    await follow({ state: 'running', step });
    // As after a retry, or another worker that goes on.
    await follow({ state: 'running', step });
    const body = await shown(scene, id);
    assert.equal(body.step, step);
    if (seen.at(-1) !== body.status) seen.push(body.status);
  }
  assert.deepEqual(seen, ['preparing', 'building', 'starting', 'switching']);
  assert.deepEqual(await environment(scene), ['deploying', null]);
  await follow({ state: 'running', step: 'retire' });
  const ended = await shown(scene, id);
  assert.deepEqual([ended.status, ended.step, ended.fault], ['succeeded', null, null]);
  await follow({ state: 'running', step: 'clean-up' });
  await follow({ state: 'succeeded' });
  assert.deepEqual(
    stepsOf(ended),
    steps.map((step) => `${step} done`),
    'each once',
  );
  await follow({ state: 'failed', fault });
  await follow({ state: 'running', step: 'fetch' });
  assert.deepEqual(await shown(scene, id), ended, 'an end is final');
  const { db } = scene.service.app.store;
  const range = { after: 0, upTo: Number.MAX_SAFE_INTEGER, limit: 1_000 };
  const events = await readEvents(db, { workspaceId: scene.workspaceId, feedId: id }, range);
  assert.deepEqual(
    events.slice(-2).map(({ kind, data }) => [kind, data.status]),
    [
      ['status', 'succeeded'],
      ['end', 'succeeded'],
    ],
  );
  assert.equal(events.filter(({ kind }) => kind === 'end').length, 1);
  assert.deepEqual(await environment(scene), ['running', null]);
});

test('what fails or is cancelled leaves the environment as it was, a degraded one too', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { workspaceId, environmentId, service } = scene;
  const { db } = service.app.store;
  const first = follower(scene, await queued(scene, 1));
  await first({ state: 'running', step: 'build' });
  await first({ state: 'cancelled', fault: null });
  assert.deepEqual(await environment(scene), ['idle', null], 'nothing was ever live');

  await scene.released();
  const second = await queued(scene, 2);
  await follower(scene, second)({ state: 'running', step: 'fetch' });
  await follower(scene, second)({ state: 'running', step: 'build' });
  await follower(scene, second)({ state: 'failed', fault });
  const failed = await shown(scene, second);
  assert.deepEqual([failed.status, Object(failed.fault).code], ['failed', 'build_failed']);
  assert.deepEqual(stepsOf(failed), ['fetch done', 'build failed']);
  assert.deepEqual(await environment(scene), ['running', null]);

  const problem = { code: 'app_crashed', step: null, message: 'x', hint: null, evidence: null };
  await setStatus(db, workspaceId, environmentId, 'degraded', problem, new Date());
  const third = follower(scene, await queued(scene, 3));
  await third({ state: 'running', step: 'build' });
  assert.equal((await environment(scene))[0], 'deploying');
  await third({ state: 'cancelled', fault: null });
  assert.deepEqual(await environment(scene), ['degraded', 'app_crashed']);
});

test('a commit that is asked for again after it failed or was cancelled is a retry, and no other', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, environmentId, workspaceId, service } = scene;
  const { db } = service.app.store;
  // Wishes are stored, and nobody takes them up.
  await db.run(
    sql`insert into operation_limits (scope, subject_id, most) values ('workspace', ${workspaceId}, 0)`,
  );
  await ask('PATCH', `/environments/${environmentId}/server`, { serverId: await scene.server('web-1') });
  const [sha, other] = ['a'.repeat(40), 'b'.repeat(40)];
  const deploy = async (body: object) => {
    const made = await ask('POST', `/environments/${environmentId}/deployments`, body);
    assert.equal(made.status, 202, made.text);
    return { id: String(made.body.id), trigger: made.body.trigger };
  };
  const first = await deploy({ commit: sha });
  assert.equal(first.trigger, 'manual');
  await ask('POST', `/environments/${environmentId}/deployments/${first.id}/cancel`);
  const second = await deploy({ commit: sha });
  assert.equal(second.trigger, 'retry');
  assert.equal((await deploy({ commit: sha })).trigger, 'manual', 'the one before has not ended otherwise');
  const commit = JSON.stringify({ sha, message: '', author: null, branch: 'main' });
  await db.run(sql`update deployments set commit = ${commit}::jsonb, status = 'failed', finished_at = now(),
    wanted = '{"branch":"main"}' where environment_id = ${environmentId}`);
  assert.equal((await deploy({ commit: other })).trigger, 'manual', 'another commit');
  await db.run(
    sql`delete from deployments where environment_id = ${environmentId} and wanted->>'sha' = ${other}`,
  );
  assert.equal((await deploy({})).trigger, 'manual', 'nobody named a commit');
  await db.run(sql`
    delete from deployments
    where environment_id = ${environmentId} and wanted->>'branch' is not null and status = 'queued'`);
  assert.equal((await deploy({ commit: sha })).trigger, 'retry');
});

test('one that ends while it waits says nothing about the one at work', async (t) => {
  const scene = await startEnvironmentScene(t);
  await scene.released();
  await follower(scene, await queued(scene, 1))({ state: 'running', step: 'build' });
  const waiting = await queued(scene, 2);
  await follower(scene, waiting)({ state: 'cancelled', fault: null });
  const body = await shown(scene, waiting);
  assert.deepEqual([body.status, body.startedAt, body.steps], ['cancelled', null, []]);
  assert.notEqual(body.finishedAt, null);
  const overtaken = await queued(scene, 3);
  const { db } = scene.service.app.store;
  await db.run(sql`update deployments set superseded_by = ${newId()} where id = ${overtaken}`);
  await follower(scene, overtaken)({ state: 'cancelled', fault: null });
  assert.equal((await shown(scene, overtaken)).status, 'superseded');
  assert.deepEqual(await environment(scene), ['deploying', null]);
});

test('the database refuses two that are at work in one environment', async (t) => {
  const scene = await startEnvironmentScene(t);
  await queued(scene, 1, 'building');
  for (const status of ['preparing', 'building', 'starting', 'switching'])
    await assert.rejects(queued(scene, 2, status), status);
  await queued(scene, 2);
});

test('an account starts only so many deployments in a minute, by any way', async (t) => {
  const scene = await startEnvironmentScene(t, { env: { SLIPWAY_LIMIT_TRIGGERS: '3' } });
  const serverId = await scene.server('one');
  const linked = await scene.ask('PATCH', `/environments/${scene.environmentId}/server`, { serverId });
  assert.equal(linked.status, 200, linked.text);
  const path = `/environments/${scene.environmentId}/deployments`;
  const answers = [];
  for (let call = 0; call < 3; call += 1) answers.push(await scene.ask('POST', path, {}));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [202, 202, 202],
    answers.at(-1)?.text,
  );
  const last = String(answers.at(-1)?.body.id);
  for (const each of [path, `${path}/${last}/rollback`]) {
    const refused = await scene.ask('POST', each, {});
    assert.deepEqual([refused.status, refused.body.code], [429, 'rate_limited'], each);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
  }
  assert.equal((await scene.ask('GET', path)).status, 200, 'looking is free');
  assert.equal((await scene.ask('POST', `${path}/${last}/cancel`)).status, 202, 'and so is a cancel');
  const { body } = await scene.ask('GET', path);
  assert.equal(Object(body.items).length, 3);
});

test('a server that cannot be reached is waited for, and the wait can be cancelled', async (t) => {
  const scene = await startEnvironmentScene(t);
  const serverId = await scene.server('one');
  // It was reached before, and now nothing listens there.
  const known = 'SHA256:uNiVztksCsDhcc0u9e8BrrJXQVQzN2n4XLmbmkGQ8cY';
  await scene.service.app.store.db.run(sql`update servers set host_key = ${known} where id = ${serverId}`);
  await scene.ask('PATCH', `/environments/${scene.environmentId}/server`, { serverId });
  const path = `/environments/${scene.environmentId}/deployments`;
  const made = await scene.ask('POST', path, {});
  const id = String(made.body.id);
  await until(
    async () => (await scene.ask('GET', `${path}/${id}`)).body.step === 'plan',
    'the first question to the server',
  );
  const both = await scene.ask('POST', path, { commit: 'a'.repeat(40), branch: 'main' });
  assert.equal(both.status, 400, both.text);
  const misspelled = await scene.ask('POST', path, { branch: 'maim' });
  assertProblem(misspelled, 422, 'commit_not_found');
  assert.match(String(misspelled.body.detail), /no branch «maim».*«main»/);
  assert.equal(Object((await scene.ask('GET', path)).body.items).length, 1, 'nothing was begun');
  assert.equal((await scene.ask('POST', `${path}/${id}/cancel`)).status, 202);
  const ended = await until(async () => {
    const { body } = await scene.ask('GET', `${path}/${id}`);
    return body.finishedAt !== null && body;
  }, 'its end');
  assert.deepEqual(
    [ended.status, ...stepsOf(ended)],
    ['cancelled', 'fetch done', 'plan cancelled'],
    JSON.stringify(ended.fault),
  );
  assert.deepEqual(await environment(scene), ['idle', null]);
});

test('an environment is shown with its newest deployment, whatever became of it', async (t) => {
  const scene = await startEnvironmentScene(t);
  const last = async () => {
    const [one, project, list] = await Promise.all([
      scene.ask('GET', `/environments/${scene.environmentId}`),
      scene.ask('GET', `/projects/${scene.projectId}`),
      scene.ask('GET', '/environments'),
    ]);
    const [inProject, inList] = [project.body.environments, list.body.items].map((all) => Object(all)[0]);
    assert.deepEqual(Object(inProject).lastDeployment, one.body.lastDeployment);
    assert.deepEqual(Object(inList).lastDeployment, one.body.lastDeployment);
    return one.body.lastDeployment;
  };
  assert.equal(await last(), null);
  const first = await queued(scene, 1);
  await follower(scene, first)({ state: 'running', step: 'fetch' });
  await follower(scene, first)({ state: 'succeeded' });
  const second = await queued(scene, 2);
  const { queuedAt, ...waiting } = Object(await last());
  assert.deepEqual(waiting, { id: second, number: 2, status: 'queued', message: null, finishedAt: null });
  assert.ok(Date.parse(queuedAt) > 0);
  await follower(scene, second)({ state: 'running', step: 'build' });
  await follower(scene, second)({ state: 'failed', fault });
  const { status, finishedAt } = Object(await last());
  assert.equal(status, 'failed');
  assert.notEqual(finishedAt, null);
});
