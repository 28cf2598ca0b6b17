import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCatcher } from '../lab/services/catcher/catcher.ts';
import { renewDueCertificates } from '../src/areas/domains/domain-schedules.ts';
import { verifyDomain } from '../src/areas/domains/verify-domain.ts';
import { day } from '../src/clock.ts';
import { type NewNotice, raiseNotice } from '../src/events/notices.ts';
import { type DomainId, newId, type ProjectId } from '../src/ids.ts';
import { sql } from '../src/store/sql.ts';
import { startDomainScene } from './support/domains.ts';
import { startEnvironmentScene } from './support/environments.ts';
import { hangMs, until } from './support/until.ts';

test('a project’s notices reach those linked to it, by what the link says, and those that hear of all', async (t) => {
  const catcher = await startCatcher({ address: '127.0.0.1', port: 0 });
  t.after(() => catcher.close());
  const { ask, service, workspaceId, projectId, environmentId } = await startEnvironmentScene(t);
  const make = async (name: string, more: object) => {
    const config = { url: `${catcher.url}/${name}` };
    const made = await ask('POST', '/notification-connectors', { type: 'webhook', name, config, ...more });
    return String(made.body.id);
  };
  const events = ['deployment_failed', 'server_back'];
  const linked = await make('linked', { events });
  const narrowed = await make('narrowed', { events: ['server_back'] });
  await make('everything', { events, allProjects: true });
  await make('elsewhere', { events });
  const put = (body: object) => ask('PUT', `/notification-connectors/project/${projectId}`, body);
  const raise = async (more: Partial<NewNotice>) => {
    const id = newId();
    const notice = { workspaceId, key: id, subject: { type: 'deployment', id }, data: { number: 1 } };
    await service.app.store.db.transaction((tx) =>
      raiseNotice(tx, { kind: 'deployment_failed', ...notice, ...more }),
    );
  };
  const told = async (count: number) => {
    await until(() => catcher.requests().length === count);
    const paths = catcher.requests().map(({ path }) => path.slice(1));
    catcher.clear();
    return paths.sort();
  };
  const ofProject = { projectId: projectId as ProjectId, environmentId };
  await put({ connectorIds: [linked] });
  await raise(ofProject);
  assert.deepEqual(await told(2), ['everything', 'linked']);
  await put({ connectorIds: [linked, narrowed], events: ['deployment_failed', 'backup_failed'] });
  await raise(ofProject);
  assert.deepEqual(await told(3), ['everything', 'linked', 'narrowed'], 'the link says what of this project');
  await put({ connectorIds: [] });
  await raise(ofProject);
  assert.deepEqual(await told(1), ['everything']);
  await raise({ kind: 'server_back' });
  assert.deepEqual(
    await told(4),
    ['elsewhere', 'everything', 'linked', 'narrowed'],
    'of the workspace all hear',
  );
});

test('a secret of the environment is not in a message, whoever put it into the notice', async (t) => {
  const catcher = await startCatcher({ address: '127.0.0.1', port: 0 });
  t.after(() => catcher.close());
  const { ask, service, workspaceId, projectId, environmentId } = await startEnvironmentScene(t);
  const secret = 'correct-horse-battery';
  const variables = [{ key: 'API_KEY', value: secret, secret: true }];
  assert.ok((await ask('POST', `/environments/${environmentId}/variables`, { variables })).status < 300);
  const config = { url: `${catcher.url}/hook` };
  await ask('POST', '/notification-connectors', { type: 'webhook', name: 'W', config, allProjects: true });
  const id = newId();
  await service.app.store.db.transaction((tx) =>
    raiseNotice(tx, {
      workspaceId,
      kind: 'deployment_failed',
      key: id,
      subject: { type: 'deployment', id },
      projectId: projectId as ProjectId,
      environmentId,
      data: {
        number: 3,
        commit: { sha: 'abcdef', message: `leak ${secret}`, author: 'Ada', branch: 'main' },
        fault: { message: `It said ${secret}`, evidence: `url=https://x/?k=${secret}\n${btoa(secret)}` },
      },
    }),
  );
  const caught = await catcher.next('/hook', hangMs);
  const text = caught?.bodyText ?? '';
  assert.match(text, /Shop \/ production: deployment #3 failed/);
  assert.match(text, /It said \[secret\]/);
  assert.ok(!text.includes(secret) && !text.includes(btoa(secret)), text);
});

test('a domain that is let go and a certificate near its end are told to the project that they lead to', async (t) => {
  const scene = await startDomainScene(t);
  const { ask, service, zone, apex: hostname, environmentId, projectId, workspaceId } = scene;
  const { db } = service.app.store;
  const { id, verification } = await scene.verified(ask, hostname);
  const connected = await ask('POST', `/environments/${environmentId}/domain`, {
    hostname,
    ssl: { mode: 'off' },
  });
  assert.ok(connected.status < 300, connected.text);
  const certificate = newId();
  const now = service.clock.now();
  await db.run(sql`
    insert into certificates (workspace_id, id, source, names, status, not_before, not_after, created_at, updated_at)
    values (${workspaceId}, ${certificate}, 'custom', ${[hostname]}, 'issued', ${now},
      ${now}::timestamptz + interval '90 days', ${now}, ${now})`);
  await db.run(sql`
    update environment_domains set certificate_id = ${certificate} where workspace_id = ${workspaceId}`);
  service.clock.advance(80 * day);
  for (let times = 0; times < 2; times += 1) await renewDueCertificates(service.app.contexts.domains);
  zone.remove(Object(verification).name);
  const look = () =>
    verifyDomain(service.app.contexts.domains, workspaceId, id as DomainId, AbortSignal.timeout(hangMs));
  await look();
  service.clock.advance(8 * day);
  for (let times = 0; times < 2; times += 1) await look();
  const raised = await db.rows(sql`
    select kind, project_id as "projectId", data->>'hostname' as hostname from notices
    where workspace_id = ${workspaceId} order by at`);
  assert.deepEqual(raised, [
    { kind: 'certificate_expiring', projectId, hostname },
    { kind: 'domain_lost', projectId, hostname },
  ]);
});
