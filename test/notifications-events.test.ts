import assert from 'node:assert/strict';
import { test } from 'node:test';
import { followDeployment } from '../src/areas/deployments/follow-deployment.ts';
import { setStatus } from '../src/areas/environments/environment-state.ts';
import { checkProvider } from '../src/areas/git-providers/check-providers.ts';
import { pruneNotifications } from '../src/areas/notifications/deliveries.ts';
import { probeServer } from '../src/areas/servers/connection/probe-server.ts';
import { day } from '../src/clock.ts';
import { type DeploymentId, type GitProviderId, newId, type ServerId } from '../src/ids.ts';
import type { StateChange } from '../src/operations/definition.ts';
import { sql } from '../src/store/sql.ts';
import { type EnvironmentScene, startEnvironmentScene } from './support/environments.ts';
import { noticesIn } from './support/notifications.ts';

const raisedIn = ({ service, workspaceId }: EnvironmentScene) => noticesIn(service, workspaceId);
const kindsIn = async (scene: EnvironmentScene) => (await raisedIn(scene)).map(({ kind }) => kind);

/** A deployment that goes the way of these changes, as its operation tells them. */
async function deploy(
  scene: EnvironmentScene,
  changes: readonly StateChange[],
  supersededBy: string | null = null,
) {
  const { workspaceId, environmentId, service } = scene;
  const { db } = service.app.store;
  const id = newId<DeploymentId>();
  const serverId = newId<ServerId>();
  await db.run(sql`
    insert into deployments (workspace_id, id, environment_id, number, trigger, wanted, status, server_id, queued_at,
      superseded_by, commit)
    select ${workspaceId}, ${id}, ${environmentId}, coalesce(max(number), 0) + 1, 'manual', '{}', 'queued', ${serverId},
      now(), ${supersededBy}, '{"sha":"abc","message":"Fix","author":"Ada","branch":"main"}'
    from deployments where environment_id = ${environmentId}`);
  for (const change of changes)
    await db.transaction((tx) =>
      followDeployment(tx, service.clock, workspaceId, { deploymentId: id, environmentId }, change),
    );
}

const begin = { state: 'running', step: null } as const;
const fault = { code: 'build_failed', step: 'build', message: 'No.', hint: null, evidence: 'last line' };

test('deployments are told when they begin and how they end; one that gives way to a newer one is not', async (t) => {
  const scene = await startEnvironmentScene(t);
  await deploy(scene, [begin, { state: 'running', step: 'fetch' }, { state: 'succeeded' }]);
  await deploy(scene, [begin, { state: 'failed', fault }]);
  await deploy(scene, [begin, { state: 'cancelled', fault: null }]);
  await deploy(scene, [{ state: 'cancelled', fault: null }], newId());
  assert.deepEqual(await kindsIn(scene), [
    ...['deployment_started', 'deployment_succeeded', 'deployment_started', 'deployment_failed'],
    ...['deployment_started', 'deployment_cancelled'],
  ]);
  const failed = (await raisedIn(scene)).find(({ kind }) => kind === 'deployment_failed');
  assert.equal(failed?.projectId, scene.projectId);
  assert.deepEqual(failed?.data.fault, fault);
  assert.equal(Object(failed?.data.commit).sha, 'abc');
  assert.equal(typeof failed?.data.durationMs, 'number');
});

test('an environment that was degraded is told as recovered by the deployment that mends it', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { db } = scene.service.app.store;
  await scene.released();
  await setStatus(db, scene.workspaceId, scene.environmentId, 'degraded', fault, new Date());
  await deploy(scene, [begin, { state: 'failed', fault }]);
  assert.ok(!(await kindsIn(scene)).includes('environment_recovered'), 'it is as bad as before');
  assert.ok(!(await kindsIn(scene)).includes('environment_degraded'), 'and that is no news');
  await deploy(scene, [begin, { state: 'succeeded' }]);
  assert.equal((await kindsIn(scene)).filter((kind) => kind === 'environment_recovered').length, 1);
});

test('a server that cannot be reached is told once, until it is back', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { service, workspaceId } = scene;
  const id = (await scene.server('web-1')) as ServerId;
  await service.app.store.db.run(sql`update servers set host_key = 'SHA256:x' where id = ${id}`);
  for (let times = 0; times < 2; times += 1)
    await assert.rejects(probeServer(service.app.contexts.servers, workspaceId, id));
  const raised = (await raisedIn(scene)).filter(({ kind }) => kind.startsWith('server_'));
  assert.deepEqual(
    raised.map(({ kind, projectId, data }) => [kind, projectId, data.serverName, data.host]),
    [['server_unreachable', null, 'web-1', '127.0.0.1']],
  );
});

test('a token that the provider refuses is told once', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { service, workspaceId, host, gitToken, providerId } = scene;
  host.revokeToken(gitToken);
  for (let times = 0; times < 2; times += 1)
    await checkProvider(service.app.contexts.providers, workspaceId, providerId as GitProviderId);
  const raised = (await raisedIn(scene)).filter(({ kind }) => kind === 'token_revoked');
  assert.equal(raised.length, 1);
  assert.doesNotMatch(JSON.stringify(raised), new RegExp(gitToken));
});

test('notices go with their project, and after their time', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { service, workspaceId, projectId } = scene;
  const { db } = service.app.store;
  await deploy(scene, [begin]);
  await pruneNotifications({ db, clock: service.clock }, 14);
  assert.equal((await raisedIn(scene)).length, 1);
  service.clock.advance(15 * day);
  await pruneNotifications({ db, clock: service.clock }, 14);
  assert.deepEqual(await raisedIn(scene), []);
  await deploy(scene, [{ state: 'cancelled', fault: null }]);
  assert.equal((await raisedIn(scene)).length, 1);
  await db.run(sql`delete from projects where workspace_id = ${workspaceId} and id = ${projectId}`);
  assert.equal((await raisedIn(scene)).length, 0);
});
