/** A new server. A password is used here and now, and forgotten; a key is sealed before it is stored. */
import { type AccountId, newId, type ServerId, type WorkspaceId } from '../../ids.ts';
import { generateKeyPair, readPrivateKey } from '../../remote/keys.ts';
import type { HostKeyFingerprint } from '../../remote/remote.ts';
import { Secret } from '../../secret.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import { enrolByPassword } from './enrol.ts';
import * as queries from './queries.ts';
import { readServer } from './read-server.ts';
import { keyPlace, type ServersContext, tellServer } from './servers.ts';
import { enqueueOnServer, provisionKind } from './start-operation.ts';
import { nameTaken } from './update.ts';

export type Auth =
  | { readonly type: 'generated' }
  | { readonly type: 'key'; readonly privateKey: string; readonly passphrase?: string }
  | { readonly type: 'password'; readonly password: string };

export interface NewServer {
  readonly name: string;
  readonly host: string;
  readonly port?: number;
  readonly username?: string;
  readonly auth: Auth;
  readonly hostKeyFingerprint?: HostKeyFingerprint;
}

type Shown = Awaited<ReturnType<typeof readServer>>;

export async function registerServer(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  accountId: AccountId,
  wish: NewServer,
  saveResponse: SaveResponse,
): Promise<Answer<Shown>> {
  const id = newId<ServerId>();
  const { name, host, port = 22, username = 'root', auth } = wish;
  if (await queries.isNameTaken(ctx.db, workspaceId, name, id)) throw nameTaken(name);
  const keys = await keysFor(auth, id);
  const way = { host, port, username, expectedHostKey: wish.hostKeyFingerprint };
  const enrolled =
    auth.type === 'password' ? await enrolByPassword(way, new Secret(auth.password), keys, id) : undefined;
  const hostKey = enrolled?.hostKey ?? wish.hostKeyFingerprint ?? null;
  return ctx.db.transaction(async (tx) => {
    const privateKeySealed = await ctx.sealer.seal(tx, keyPlace(workspaceId, id), keys.privateKey);
    const { publicKey } = keys;
    const row = { id, name, host, port, username, privateKeySealed, publicKey, hostKey };
    if (!(await queries.insertServer(tx, workspaceId, row, ctx.clock.now()))) throw nameTaken(name);
    // A key that we made has to be installed by its owner first; the light check notices when it was.
    if (auth.type !== 'generated') {
      const work = { workspaceId, serverId: id, kind: provisionKind, input: { serverId: id } } as const;
      await enqueueOnServer(tx, ctx, { ...work, requestedBy: accountId });
    }
    const body = await readServer(tx, workspaceId, id);
    const answer = await saveResponse(tx, { status: 201, location: `/api/v1/servers/${id}`, body });
    await tellServer(tx, workspaceId, id, 'registered');
    return answer;
  });
}

export interface Keys {
  readonly privateKey: Secret;
  readonly publicKey: string;
}

export async function keysFor(auth: Auth, id: ServerId): Promise<Keys> {
  if (auth.type === 'key') return readPrivateKey(auth.privateKey, auth.passphrase);
  return generateKeyPair(`slipway-${id}`);
}
