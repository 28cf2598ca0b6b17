/** What somebody has that an attack is about, and how its ids are put into a request. */
import assert from 'node:assert/strict';
import { newId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import type { Answer } from '../support/app.ts';
import type { EnvironmentScene } from '../support/environments.ts';
import { until } from '../support/until.ts';
import type { Operation } from './surface.ts';

export const none = '01a1df82-0000-7000-8000-000000000000';

export function api(operations: readonly Operation[]): Operation[] {
  return operations.filter(({ path }) => path.startsWith('/api/v1/'));
}

/** Everything that one person has, by the names that paths and bodies give to ids. */
export async function belongings(scene: EnvironmentScene): Promise<Record<string, string>> {
  const serverId = await scene.server('attacked');
  const domain = await scene.ask('POST', '/domains', { hostname: `shop-${newId()}.example.com` });
  const operations = await scene.ask('GET', '/operations');
  const sessions = await scene.ask('GET', '/auth/sessions');
  await scene.released();
  const environment = `/environments/${scene.environmentId}`;
  const linked = await scene.ask('PATCH', `${environment}/server`, { serverId });
  assert.ok(linked.status < 300, linked.text);
  const asked = await scene.ask('POST', `${environment}/deployments`, {});
  assert.equal(asked.status, 202, asked.text);
  // Still on its way, it would change what an attack is then blamed for.
  const deployments = await until(async () => {
    const listed = await scene.ask('GET', `${environment}/deployments`);
    const { status } = Object(Array.from(Object(listed.body.items))[0]);
    return status === 'failed' && listed;
  }, 'the deployment to end');
  const first = (answer: Answer) => String(Object(Array.from(Object(answer.body.items))[0]).id);
  const services = { services: [{ kind: 'postgres', name: 'main' }], remove: ['postgres'] };
  const added = await scene.ask('POST', `${environment}/services`, services);
  assert.ok(added.status < 300, added.text);
  // As after a first deployment.
  await scene.service.app.store.db.run(sql`
    update services set data_version = '17', server_id = ${serverId} where environment_id = ${scene.environmentId}`);
  const backup = await scene.ask('POST', `${environment}/backups/trigger`, {});
  assert.equal(backup.status, 202, backup.text);
  // With nobody in it, as after a failed join: its servers would be the attacked one, which has environments.
  const clusterId = newId();
  await scene.service.app.store.db.run(sql`
    insert into clusters (workspace_id, id, name, status, check_at, created_at, updated_at)
    values (${scene.workspaceId}, ${clusterId}, 'attacked', 'failed', now(), now(), now())`);
  const wish = { type: 'webhook', name: 'ops', config: { url: 'http://127.0.0.1:1/hook' } };
  const connector = await scene.ask('POST', '/notification-connectors', wish);
  assert.equal(connector.status, 201, connector.text);
  return {
    bid: String(backup.body.id),
    connectorId: String(connector.body.id),
    serverId,
    clusterId,
    projectId: scene.projectId,
    environmentId: scene.environmentId,
    providerId: scene.providerId,
    domainId: String(domain.body.id),
    operationId: first(operations),
    sessionId: first(sessions),
    workspaceId: scene.workspaceId,
    did: first(deployments),
    sid: String(Object(Array.from(Object(added.body.services))[0]).id),
  };
}

/** Enough for all attempts of a test. */
export const env = { SLIPWAY_LIMIT_TRIGGERS: '100000' };

/** Which of the belongings a path's `id` is. */
export function ownIds(operation: Operation, own: Readonly<Record<string, string>>): Record<string, string> {
  const [, family = ''] = /^\/api\/v1\/([\w-]+)/.exec(operation.path) ?? [];
  const byFamily: Record<string, string | undefined> = {
    servers: own.serverId,
    clusters: own.clusterId,
    projects: own.projectId,
    environments: own.environmentId,
    'git-providers': own.providerId,
    domains: own.domainId,
    operations: own.operationId,
    auth: own.sessionId,
    'notification-connectors': own.connectorId,
    workspaces: own.workspaceId,
  };
  return {
    ...own,
    id: byFamily[family] ?? none,
    repo: 'ada/shop',
    key: 'KEY',
    provider: 'github',
    hookId: none,
  };
}
