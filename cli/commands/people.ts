/** API tokens, and who is in the workspace. */
import { type ApiTokenRequest, all, type InvitationRequest } from '../../sdk/index.ts';
import { type Run, usageError } from '../command.ts';
import { collect, type Session } from '../session.ts';

const abilities = ['read', 'deploy', 'change', 'manage', 'read_secrets'] as const;
const roles = ['viewer', 'member', 'admin', 'owner'] as const;

export const tokens: Run = async ({ terminal, client }) => {
  const found = await collect(all(client.listApiTokens));
  terminal.show(found, () =>
    terminal.table(
      found.map((each) => [
        each.id,
        each.name,
        `${each.start}…`,
        each.abilities.join(', '),
        each.lastUsedAt?.slice(0, 16).replace('T', ' ') ?? 'never',
      ]),
      ['ID', 'NAME', 'TOKEN', 'CAN', 'LAST USED (UTC)'],
      'There are no tokens. Make one with `slipway tokens make NAME`.',
    ),
  );
  return undefined;
};

export const makeToken: Run = async (call) => {
  const { terminal, client } = call;
  const asked = call.texts('can');
  const chosen = abilities.filter((each) => asked.includes(each));
  const unknown = asked.filter((each) => !abilities.some((ability) => ability === each));
  if (unknown.length > 0)
    throw usageError(`--can is one of ${abilities.join(', ')}, not «${unknown.join(', ')}».`);
  const days = call.number('days');
  const isLimited = call.text('project') !== undefined;
  const body: ApiTokenRequest = {
    name: call.arg(0, 'The name'),
    abilities: chosen.length > 0 ? chosen : ['deploy'],
    projectId: isLimited ? (await call.project()).id : undefined,
    expiresAt: days === undefined ? undefined : new Date(Date.now() + days * 86_400_000).toISOString(),
  };
  const made = await client.createApiToken({ body });
  // Alone on standard output, for a pipe; the words go beside it.
  if (!terminal.isJson) terminal.note('It is shown this once:');
  terminal.show(made, () => [made.token ?? '']);
  return undefined;
};

export const revokeToken: Run = async (call) => {
  const id = call.arg(0, 'The id of the token');
  await call.client.deleteApiToken({ id });
  call.terminal.show({ id }, () => ['Revoked.']);
  return undefined;
};

async function workspaceOf(call: Session): Promise<string> {
  const asked = call.text('workspace') ?? process.env.SLIPWAY_WORKSPACE;
  const { workspaces } = await call.client.getMe();
  const [first] = workspaces;
  if (asked !== undefined) return workspaces.find((each) => each.name === asked)?.id ?? asked;
  if (!first) throw usageError('You are in no workspace.');
  return first.id;
}

export const members: Run = async (call) => {
  const { terminal, client } = call;
  const id = await workspaceOf(call);
  const found = await collect(all((page) => client.listMembers({ id, ...page })));
  terminal.show(found, () =>
    terminal.table(
      found.map(({ account, role, joinedAt }) => [account.email, role, joinedAt.slice(0, 10)]),
      ['ADDRESS', 'ROLE', 'SINCE'],
      'Nobody is in it.',
    ),
  );
  return undefined;
};

export const invite: Run = async (call) => {
  const asked = call.text('role') ?? 'member';
  const role = roles.find((each) => each === asked);
  if (!role) throw usageError(`--role is one of ${roles.join(', ')}, not «${asked}».`);
  const body: InvitationRequest = { email: call.arg(0, 'The address'), role };
  const invitation = await call.client.createInvitation({ id: await workspaceOf(call), body });
  call.terminal.show(invitation, () => [`An invitation as ${role} is on its way to ${body.email}.`]);
  return undefined;
};
