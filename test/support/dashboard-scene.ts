/** A workspace with something of everything in it, as the dashboard shows it. */
import { newId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import { type DeploymentStory, tellDeployment } from './deployment-story.ts';
import type { EnvironmentScene } from './environments.ts';

const esc = '\x1b';

export const buildLines = [
  '#1 [internal] load build definition from Dockerfile',
  '#4 [build 1/5] FROM node:24-slim',
  '#6 [build 3/5] RUN npm ci',
  `#6 ${esc}[32madded 212 packages${esc}[0m in 9s`,
  '#8 [build 5/5] RUN npm run build',
  `#8 ${esc}[1m${esc}[36mvite${esc}[39m${esc}[22m building for production...`,
  `#8 ${esc}[33mwarning${esc}[0m two chunks are larger than 500 kB`,
  '#8 dist/assets/index-8d1c.js  143.20 kB',
];

export interface Seeded {
  readonly serverId: string;
  /** Of the second environment. */
  readonly stagingId: string;
  readonly succeeded: DeploymentStory;
  readonly failed: DeploymentStory;
}

/** One that went well, then one that failed at its health check. */
export async function seedDashboard(scene: EnvironmentScene): Promise<Seeded> {
  const { ask, projectId, environmentId, service, workspaceId } = scene;
  const { db } = service.app.store;
  const serverId = await scene.server('ams-1');
  await db.run(sql`update servers set last_seen_at = now() where id = ${serverId}`);
  await db.run(sql`update environments set server_id = ${serverId} where id = ${environmentId}`);
  const staging = await ask('POST', '/environments', { projectId, name: 'staging' });
  const stagingId = String(staging.body.id);
  const variables = [
    { key: 'LOG_LEVEL', value: 'info', secret: false },
    { key: 'SESSION_SECRET', value: 'never shown', secret: true },
  ];
  await ask('POST', `/environments/${environmentId}/variables`, { variables });
  await db.run(sql`
    insert into backups (workspace_id, id, environment_id, environment_name, trigger, status, verify, size_bytes,
      verified_at, created_at, finished_at)
    values (${workspaceId}, ${newId()}, ${environmentId}, 'production', 'schedule', 'succeeded', true, 48211034, now(),
      now(), now())`);
  const succeeded = await tellDeployment(scene, serverId, {
    sha: '4f2a9c1d7be03358a1c5d2e6f90b7a8c3d1e2f40',
    message: 'Show the basket beside the list',
    author: 'Ada Lovelace',
    branch: 'main',
  });
  for (const step of [
    'fetch',
    'plan',
    'send',
    'build',
    'create-release',
    'start',
    'health',
    'prove',
    'switch',
    'promote',
  ]) {
    await succeeded.step(step);
    if (step === 'build') await succeeded.lines(step, ...buildLines);
    service.clock.advance(1_700);
  }
  await succeeded.end({ state: 'succeeded' });
  await scene.released();
  await db.run(
    sql`update environments set current_deployment = ${succeeded.id}, status = 'running' where workspace_id = ${workspaceId} and id = ${environmentId}`,
  );
  const failed = await tellDeployment(scene, serverId, {
    sha: 'b81e44f06c7d29a3355ed1a0c9f2817d4400aa12',
    message: 'Read the catalogue from the new table',
    author: 'Grace Hopper',
    branch: 'main',
  });
  for (const step of ['fetch', 'plan', 'send', 'build', 'start', 'health']) {
    await failed.step(step);
    if (step === 'build') await failed.lines(step, ...buildLines);
    service.clock.advance(2_300);
  }
  await failed.lines(
    'health',
    'GET / answered 500 after 31 ms',
    `${esc}[31mError: relation "catalogue" does not exist${esc}[0m`,
  );
  await failed.end({
    state: 'failed',
    fault: {
      code: 'app_unhealthy',
      step: 'health',
      message: 'The new release did not become healthy within 60 seconds, so the old one stayed.',
      hint: 'The app answered with 500. Its last lines say why.',
      evidence:
        'GET / answered 500\nError: relation "catalogue" does not exist\n    at Parser.parseErrorMessage (node_modules/pg-protocol/dist/parser.js:285:98)',
    },
  });
  return { serverId, stagingId, succeeded, failed };
}
