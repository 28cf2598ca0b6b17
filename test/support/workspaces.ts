/** People who share a workspace, in tests. */
import assert from 'node:assert/strict';
import { newId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import type { TestApp } from './app.ts';
import { newPerson, type Person, text } from './people.ts';

export interface Team {
  readonly workspaceId: string;
  readonly owner: Person;
}

/** A workspace of somebody new. */
export async function newTeam(service: TestApp): Promise<Team> {
  const owner = await newPerson(service);
  const { body } = await service.call('GET', '/auth/me', { token: owner.token });
  return { owner, workspaceId: text(Object(body.workspaces)[0].id) };
}

/** Invited and joined, as people are. */
export async function join(service: TestApp, team: Team, place: object, person?: Person): Promise<Person> {
  const who = person ?? (await newPerson(service));
  const path = `/workspaces/${team.workspaceId}/invitations`;
  const invited = await service.call('POST', path, {
    token: team.owner.token,
    body: { email: who.email, ...place },
  });
  assert.equal(invited.status, 201, invited.text);
  const token = await service.mailbox.invitationToken(who.email);
  const joined = await service.call('POST', '/invitations/accept', { token: who.token, body: { token } });
  assert.equal(joined.status, 200, joined.text);
  return who;
}

/** A project that is nothing but a row. */
export async function bareProject(service: TestApp, workspaceId: string): Promise<string> {
  const id = newId();
  await service.app.store.db.run(sql`
    insert into projects (workspace_id, id, name, slug, repository_kind, full_name, clone_url, root_directory, status,
      analysis_status, created_at, updated_at)
    values (${workspaceId}, ${id}, ${id}, ${id}, 'url', 'ada/shop', 'https://git.example.com/ada/shop', '', 'ready',
      'succeeded', now(), now())`);
  return id;
}

export async function bareEnvironment(service: TestApp, projectId: string): Promise<string> {
  const id = newId();
  await service.app.store.db.run(sql`
    insert into environments (workspace_id, id, project_id, name, slug, branch, status, created_at, updated_at)
    select workspace_id, ${id}, id, 'production', ${id}, 'main', 'idle', now(), now() from projects where id = ${projectId}`);
  return id;
}
