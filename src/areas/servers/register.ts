/** Registers a server. A password is used once and never stored; a key is sealed before it is stored. */
import { type AccountId, newId, type ServerId, type WorkspaceId } from '../../ids.ts';
import { generateKeyPair, readPrivateKey } from '../../remote/keys/keys.ts';
import type { HostKeyFingerprint } from '../../remote/remote.ts';
import { Secret } from '../../secret.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import { enrolByPassword } from './connection/enrol.ts';
import * as queries from './queries.ts';
import { readServer } from './read-server.ts';
import { privateKeyContext, publishServerUpdate, type ServersContext } from './servers.ts';
import { enqueueOnServer, provisionKind } from './start-operation.ts';
import { requireAllowedHost, serverNameTaken } from './update.ts';

export type ServerAuth =
  | { readonly type: 'generated' }
  | { readonly type: 'key'; readonly privateKey: string; readonly passphrase?: string }
  | { readonly type: 'password'; readonly password: string };

export interface RegisterServer {
  readonly name: string;
  readonly host: string;
  readonly port?: number;
  readonly username?: string;
  readonly auth: ServerAuth;
  readonly hostKeyFingerprint?: HostKeyFingerprint;
}

type Shown = Awaited<ReturnType<typeof readServer>>;

export async function registerServer(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  accountId: AccountId,
  input: RegisterServer,
  saveResponse: SaveResponse,
): Promise<Answer<Shown>> {
  const id = newId<ServerId>();
  const { name, host, port = 22, username = 'root', auth } = input;
  if (await queries.isServerNameTaken(ctx.db, workspaceId, name, id)) throw serverNameTaken(name);
  await requireAllowedHost(ctx, host);
  const keys = await keysFor(auth, id);
  const { resolveHost: resolve } = ctx;
  const target = { host, port, resolve, username, expectedHostKey: input.hostKeyFingerprint };
  const enrolled =
    auth.type === 'password' ? await enrolByPassword(target, new Secret(auth.password), keys, id) : undefined;
  const hostKey = enrolled?.hostKey ?? input.hostKeyFingerprint ?? null;
  return ctx.db.transaction(async (tx) => {
    const privateKeySealed = await ctx.sealer.seal(tx, privateKeyContext(workspaceId, id), keys.privateKey);
    const { publicKey } = keys;
    const row = { id, name, host, port, username, privateKeySealed, publicKey, hostKey };
    if (!(await queries.insertServer(tx, workspaceId, row, ctx.clock.now()))) throw serverNameTaken(name);
    // A generated key has to be installed by its owner first; the scheduled check notices when it was.
    if (auth.type !== 'generated') {
      const work = { workspaceId, serverId: id, kind: provisionKind, input: { serverId: id } } as const;
      await enqueueOnServer(tx, ctx, { ...work, requestedBy: accountId });
    }
    const body = await readServer(tx, workspaceId, id);
    const answer = await saveResponse(tx, { status: 201, location: `/api/v1/servers/${id}`, body });
    await publishServerUpdate(tx, workspaceId, id, 'registered');
    return answer;
  });
}

export interface Keys {
  readonly privateKey: Secret;
  readonly publicKey: string;
}

export async function keysFor(auth: ServerAuth, id: ServerId): Promise<Keys> {
  if (auth.type === 'key') return readPrivateKey(auth.privateKey, auth.passphrase);
  return generateKeyPair(`slipway-${id}`);
}
