/** Environments in tests: a project that was finalised, and what can be asked of it. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setCurrent } from '../../src/areas/environments/environment-state.ts';
import { createRelease } from '../../src/areas/releases/stored-releases.ts';
import type { RunPlan } from '../../src/engine/release-spec.ts';
import { type DeploymentId, type EnvironmentId, newId, type WorkspaceId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import type { Answer } from './app.ts';
import { type GitScene, type SceneOptions, startGitScene } from './git.ts';
import { analysed, expressApp, newProject } from './projects.ts';

const run: RunPlan = {
  port: 8080,
  health: { path: null, port: null, timeoutSeconds: 5, startSeconds: 60 },
  startCommand: null,
  releaseCommand: null,
  processes: [],
  replicas: 1,
  memoryMb: null,
  cpus: null,
  volumes: [],
  drainSeconds: 30,
  stopSeconds: 10,
  holdSeconds: 30,
  isRoot: false,
  plainKeys: [],
  askedOfServices: [],
};

export interface EnvironmentScene extends GitScene {
  readonly projectId: string;
  /** The first environment, made by finalising. */
  readonly environmentId: EnvironmentId;
  readonly workspaceId: WorkspaceId;
  readonly providerId: string;
  /** As the project's owner. */
  ask(method: string, path: string, body?: unknown): Promise<Answer>;
  /** As after a first deployment. */
  released(volumes?: RunPlan['volumes']): Promise<void>;
  /** A server as it is after provisioning; nothing is behind it. */
  server(name: string, host?: string): Promise<string>;
}

export async function startEnvironmentScene(
  t: TestContext,
  options: SceneOptions = {},
  files: Readonly<Record<string, string>> = expressApp,
  finalization: object = {},
): Promise<EnvironmentScene> {
  const scene = await startGitScene(t, options);
  const { service, person } = scene;
  const { token } = person;
  await scene.repository('shop', files);
  const providerId = await scene.connect();
  const repository = { providerId, fullName: 'ada/shop' };
  const project = await newProject(service, token, { name: 'Shop', repository });
  const projectId = String(project.id);
  await analysed(service, token, projectId);
  const ask: EnvironmentScene['ask'] = (method, path, body) =>
    service.call(method, path, { token, ...(body !== undefined && { body }) });
  const done = await ask('POST', `/projects/${projectId}/finalize`, {
    ...finalization,
    environment: { name: 'production' },
  });
  assert.equal(done.status, 200, done.text);
  const { db } = service.app.store;
  const workspace = await db.one<{ id: WorkspaceId }>(
    sql`select workspace_id as id from projects where id = ${projectId}`,
  );
  assert.ok(workspace);
  const workspaceId = workspace.id;
  const environmentId = String(Object(done.body.environment).id) as EnvironmentId;
  return {
    ...scene,
    projectId,
    providerId,
    ask,
    environmentId,
    workspaceId,
    released: async (volumes = []) => {
      const releaseId = await createRelease(
        db,
        service.app.store.sealer,
        workspaceId,
        {
          environmentId,
          image: 'slipway/x',
          imageDigest: 'sha256:x',
          buildKey: 'x',
          commit: { sha: 'x', message: 'x', author: 'x', branch: 'main' },
          run: { ...run, volumes },
          variables: new Map(),
        },
        new Date(),
      );
      const current = { deploymentId: newId<DeploymentId>(), releaseId };
      await setCurrent(db, workspaceId, environmentId, current, new Date());
    },
    server: async (name, host = '127.0.0.1') => {
      const made = await ask('POST', '/servers', { name, host, port: 1, auth: { type: 'generated' } });
      assert.equal(made.status, 201, made.text);
      const id = String(made.body.id);
      await db.run(sql`update servers set status = 'ready', provisioned_at = now() where id = ${id}`);
      return id;
    },
  };
}
