/** An environment that is stopped, started and named; projects and environments that come and go; the second server. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../../src/store/sql.ts';
import { sampleSettings } from '../faults/sample.ts';
import { until } from '../support/until.ts';
import type { Lane } from './lane.ts';
import { list } from './scene.ts';
import type { ProjectTask, ServerTask, SideTask } from './tasks.ts';

export async function runSide(lane: Lane, task: SideTask): Promise<void> {
  const { ground, scene } = lane;
  if (!scene.side) return;
  const { environmentId } = scene.side;
  const path = `/environments/${environmentId}`;
  if (task.kind === 'deploy') {
    const name = lane.fresh();
    const commit = await ground.push({ name, build: `echo ${name}` }, 'side');
    await lane.deployed(environmentId, await ground.deploy(commit, environmentId));
  } else if (task.kind === 'stop and start') {
    const { id } = await ground.call('POST', `${path}/stop`);
    const stopped = await lane.ended(id);
    if (stopped.status === 'succeeded')
      assert.equal((await ground.environment(environmentId)).status, 'stopped');
    await lane.ended((await ground.call('POST', `${path}/start`)).id);
  } else {
    const { hostname } = scene;
    const ssl = { mode: 'auto' };
    const name = await ground.call('POST', `${path}/domain`, { hostname, ssl });
    await lane.ended(name.operationId);
    await ground.call('DELETE', `${path}/domains/${name.id}`).catch(isGone);
  }
}

/** Asked again after a kill, what is gone already is not found. */
function isGone(error: unknown): void {
  if (!(error instanceof Error) || !error.message.includes('"not_found"')) throw error;
}

export async function runProject(lane: Lane, task: ProjectTask): Promise<void> {
  const { ground, scene } = lane;
  const { projectId } = await ground.environment();
  if (task.kind === 'analysis') {
    await ground.call('POST', `/projects/${projectId}/retry-analysis`);
    await analysed(lane, String(projectId));
  } else if (task.kind === 'environment') {
    const wish = { projectId, name: lane.fresh(), serverId: ground.serverId, settings: sampleSettings };
    const id = String((await ground.call('POST', '/environments', wish)).id);
    const deploying = await ground.call('POST', `/environments/${id}/deployments`, {});
    if (task.hastily) {
      // It may have been at any of its steps: it is cancelled, or it was over.
      lane.expect(deploying.operationId, { state: 'cancelled', orSucceeded: true });
      await sleep(4_000);
    } else await lane.deployed(id, String(deploying.id));
    await lane.ended((await ground.call('DELETE', `/environments/${id}?deleteData=true`)).id);
  } else {
    const name = lane.fresh();
    const repository = { providerId: ground.providerId, fullName: await ground.repository(name) };
    const project = await ground.call('POST', '/projects', { name, repository });
    const status = await analysed(lane, String(project.id));
    const environment = { name: 'production', serverId: scene.ground.serverId };
    const body = { settings: sampleSettings, environment, deploy: false };
    // A Git host that is away may have ended the analysis.
    if (status === 'succeeded') await ground.call('POST', `/projects/${project.id}/finalize`, body);
    await lane.ended((await ground.call('DELETE', `/projects/${project.id}?deleteData=true`)).id);
  }
}

async function analysed({ ground }: Lane, projectId: string): Promise<string> {
  return until(async () => {
    const { status } = Object((await ground.call('GET', `/projects/${projectId}`)).analysis);
    if (['succeeded', 'failed'].includes(status)) return String(status);
    await sleep(150);
    return undefined;
  }, 'an analysis to end');
}

export async function runServer(lane: Lane, task: ServerTask): Promise<void> {
  const { ground, scene } = lane;
  const { second } = scene;
  if (!second) return;
  const path = `/servers/${second.id}`;
  await idle(lane, second.id);
  if (task.kind === 'provision')
    return void (await lane.ended((await ground.call('POST', `${path}/provision`)).id));
  if (task.kind === 'harden') {
    const plan = await ground.call('POST', `${path}/security/harden`, { dryRun: true }, 60_000);
    if (list(plan.steps).length === 0) return;
    const wish = { planFingerprint: plan.fingerprint };
    const { id } = await ground.call('POST', `${path}/security/harden`, wish);
    const { status } = await lane.ended(id);
    if (status !== 'succeeded') return;
    await lane.ended((await ground.call('POST', `${path}/security/undo`, { operationId: id })).id);
    return;
  }
  const { status } = await lane.ended(await removal(lane, second.id));
  if (status === 'succeeded') second.id = await ground.addServer(second.server);
}

/** It is ready a moment before its provisioning has ended. */
async function idle({ scene }: Lane, serverId: string): Promise<void> {
  const busy = () =>
    scene.db.one(sql`select 1 from operations where finished_at is null and subject_id = ${serverId}`);
  await until(
    async () => ((await scene.patiently(busy)) === undefined ? true : sleep(200, undefined)),
    'the second server to be left alone',
  );
}

/** Asked until there is one: of a call that was broken off by a kill, nobody knows what became of it. */
function removal({ ground, scene }: Lane, serverId: string): Promise<string> {
  return until(async () => {
    await ground.call('DELETE', `/servers/${serverId}`).catch((error: unknown) => {
      if (!(error instanceof Error) || !/"(server_busy|not_found)"/.test(error.message)) throw error;
    });
    const row = await scene.patiently(() =>
      scene.db.one<{ id: string }>(sql`
          select id from operations where kind = 'server_remove' and subject_id = ${serverId}
          order by created_at desc limit 1`),
    );
    return row?.id ?? sleep(300, undefined);
  }, 'a removal of the server');
}
