/** Three people and a program, each of whom may do less than the one before. */
import assert from 'node:assert/strict';
import type { Mailbox } from '../support/mailbox.ts';
import type { StoryClient } from './client.ts';

const password = 'a long enough password';

export interface Team {
  /** May change what is of the project, and nothing beside it. */
  readonly grace: string;
  /** May look. */
  readonly joan: string;
  /** Of a CI: deploys the project. */
  readonly ci: string;
}

export async function gatherTeam(client: StoryClient, mailbox: Mailbox, projectId: string): Promise<Team> {
  const { items } = await client.call('listWorkspaces');
  const id = String(Object(items)[0].id);
  const join = async (email: string, place: object): Promise<string> => {
    await client.call('createInvitation', { path: { id }, body: { email, ...place } });
    const invitation = await mailbox.invitationToken(email);
    await client.call('register', { body: { email, password, invitation }, token: '' });
    await client.call('verifyOtp', { body: { email, code: await mailbox.code(email) }, token: '' });
    return String((await client.call('login', { body: { email, password }, token: '' })).accessToken);
  };
  const projects = [{ projectId, role: 'member' }];
  const grace = await join('grace@example.com', { role: 'member', projects });
  const joan = await join('joan@example.com', { role: 'viewer' });
  const members = await client.call('listMembers', { path: { id } });
  assert.equal(Array.from(Object(members.items)).length, 3);
  const made = await client.call('createApiToken', {
    body: { name: 'CI of the notes', abilities: ['deploy'], projectId },
  });
  return { grace, joan, ci: String(made.token) };
}

export async function eachWithinTheirs(
  client: StoryClient,
  { grace, joan, ci }: Team,
  environmentId: string,
): Promise<void> {
  const path = { id: environmentId };
  const body = { variables: [{ key: 'TEAM', value: 'three', secret: false }] };
  for (const token of [grace, joan, ci]) await client.call('getEnvironment', { path, token });
  await client.call('setVariables', { path, body, token: grace });
  for (const token of [joan, ci]) await client.call('setVariables', { path, body, token, status: 403 });
  await client.call('deploy', { path, body: {}, token: joan, status: 403 });
  await client.call('listServers', { token: joan });
  for (const token of [grace, ci]) await client.call('listServers', { token, status: 403 });
  for (const token of [grace, joan, ci]) await client.call('listAudit', { token, status: 403 });
}

/** Whoever looks later sees who it was. */
export async function itIsWritten(client: StoryClient): Promise<void> {
  const actors = async (action: string) => {
    const { items } = await client.call('listAudit', { query: { action } });
    return Array.from(Object(items), (entry) => Object(entry).actor);
  };
  assert.equal((await actors('setVariables'))[0]?.name, 'grace@example.com');
  const [deployer] = await actors('deploy');
  assert.deepEqual([deployer?.kind, deployer?.name], ['token', 'CI of the notes']);
  const { items } = await client.call('listApiTokens');
  const [token] = Array.from(Object(items));
  assert.ok(Object(token).lastUsedAt, 'its last use is told');
  await client.call('deleteApiToken', { path: { id: String(Object(token).id) } });
}
