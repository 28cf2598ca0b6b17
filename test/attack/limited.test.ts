/** Every operation of the document, asked for by somebody who is limited to one project, with the things of another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import type { Answer, TestApp } from '../support/app.ts';
import { text } from '../support/people.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { bareEnvironment, bareProject, join, newTeam } from '../support/workspaces.ts';
import { send, whole } from './send.ts';
import { type Json, leavesOf, type Operation, surfaceOf, withValue } from './surface.ts';

type Ids = Readonly<Record<string, string>>;

/** A project with one of everything that belongs to a project. */
async function worldOf(service: TestApp, workspaceId: string): Promise<Ids> {
  const { db } = service.app.store;
  const projectId = await bareProject(service, workspaceId);
  const environmentId = await bareEnvironment(service, projectId);
  const operationId = newId();
  await db.run(sql`
    insert into operations (workspace_id, id, kind, subject_type, subject_id, input, state, finished_at)
    values (${workspaceId}, ${operationId}, 'nothing', 'environment', ${environmentId}, '{}', 'succeeded', now())`);
  const bid = newId();
  await db.run(sql`
    insert into backups (workspace_id, id, environment_id, environment_name, trigger, status, verify, created_at, finished_at)
    values (${workspaceId}, ${bid}, ${environmentId}, 'production', 'manual', 'failed', false, now(), now())`);
  return { projectId, environmentId, operationId, bid, did: newId(), sid: newId(), serverId: newId() };
}

function pathIds({ path }: Operation, of: Ids, workspaceId: string): Record<string, string> {
  const [, kind = ''] = /^\/api\/v1\/([a-z-]+)/.exec(path) ?? [];
  const byKind: Record<string, string | undefined> = {
    projects: of.projectId,
    environments: of.environmentId,
    operations: of.operationId,
    workspaces: workspaceId,
  };
  const others = { repo: 'ada/none', key: 'NONE', provider: 'github', hookId: newId(), accountId: newId() };
  return { ...others, ...of, invitationId: newId(), domainId: newId(), id: byKind[kind] ?? newId() };
}

function withIds(example: Json, of: Ids): Json {
  let body = example;
  for (const at of leavesOf(example)) {
    const id = of[String(at.findLast((key) => typeof key === 'string'))];
    if (id !== undefined) body = withValue(body, at, id);
  }
  return body;
}

async function scene() {
  const service = await sharedTestApp();
  const team = await newTeam(service);
  const [own, other] = [await worldOf(service, team.workspaceId), await worldOf(service, team.workspaceId)];
  const projects = [{ projectId: own.projectId, role: 'admin' }];
  const member = await join(service, team, { role: 'member', projects });
  // With no other workspace, so that every call is about this one.
  await service.app.store.db.run(sql`
    delete from memberships where account_id = ${member.accountId} and role = 'owner'`);
  const body = { name: 'all', abilities: ['manage', 'read_secrets'], projectId: own.projectId };
  const made = await service.call('POST', '/api-tokens', { token: team.owner.token, body });
  assert.equal(made.status, 201, made.text);
  const operations = surfaceOf().filter(
    ({ path, isPublic, name }) => path.startsWith('/api/v1/') && !isPublic && name !== 'logout',
  );
  return { service, team, own, other, operations, tokens: [member.token, text(made.body.token)] };
}

test('who is limited to one project reaches nothing of another by any operation, and hears of nothing', async () => {
  const { service, team, own, other, operations, tokens } = await scene();
  const foreign = Object.values(other);
  const told = ({ name }: Operation, answer: Answer, sent: string) => {
    const leaked = foreign.filter((each) => answer.text.includes(each) && !sent.includes(each));
    assert.deepEqual(leaked, [], `${name} tells of another project: ${answer.text.slice(0, 300)}`);
  };
  let refused = 0;
  for (const token of tokens)
    for (const operation of operations) {
      if (operation.name === 'deleteMember') continue;
      const ids = pathIds(operation, other, team.workspaceId);
      const bodies =
        operation.least.length > 0 ? operation.least.map((each) => withIds(each, other)) : [undefined];
      const namesProject = Object.values(other).some((id) =>
        operation.path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '').includes(id),
      );
      const query = operation.inQuery.includes('projectId') ? `?projectId=${other.projectId}` : '';
      for (const body of bodies) {
        const answer = await send(service.url, operation, ids, { token, body, query });
        whole(operation, answer);
        told(operation, answer, `${JSON.stringify(body)}${query}${Object.values(ids)}`);
        const shown = `${operation.name}: ${answer.status} ${answer.text.slice(0, 200)}`;
        if (namesProject || query !== '') {
          assert.ok([400, 403, 404, 415].includes(answer.status), shown);
          refused += 1;
        }
        // Bodies alone: what they name of others is not there.
        if (body !== undefined && JSON.stringify(body).includes(other.projectId ?? ''))
          assert.ok([400, 403, 404].includes(answer.status), shown);
      }
    }
  assert.ok(refused > 100, `${refused} refusals`);
  // And the same person in their own project is let in: the refusals above were about the project.
  for (const token of tokens)
    for (const name of ['getProject', 'getEnvironment', 'getOperation', 'listBackups', 'listVariables']) {
      const operation = operations.find((each) => each.name === name);
      assert.ok(operation, name);
      const answer = await send(service.url, operation, pathIds(operation, own, team.workspaceId), { token });
      assert.equal(answer.status, 200, `${name}: ${answer.text}`);
    }
});

test('every list and count holds the one project alone', async () => {
  const { service, own, other, tokens } = await scene();
  for (const token of tokens)
    for (const path of ['/projects', '/environments', '/operations', '/backups']) {
      const { status, body, text: shown } = await service.call('GET', path, { token });
      assert.equal(status, 200, shown);
      assert.equal(Object(body.items).length, 1, `${path}: ${shown}`);
      assert.ok(!Object.values(other).some((id) => shown.includes(id)), path);
      assert.ok(
        Object.values(own).some((id) => shown.includes(id)),
        path,
      );
    }
});
