/** Connections to saved servers: the address, the opened private key, the pinned host key. */
import { Fault } from '../../../fault.ts';
import type { ServerId, WorkspaceId } from '../../../ids.ts';
import type { HostKeyFingerprint, Remote } from '../../../remote/remote.ts';
import * as queries from '../queries.ts';
import { privateKeyContext, type ServerAccess, type ServerFacts, serverNotFound } from '../servers.ts';

export interface ServerConnection {
  readonly remote: Remote;
  readonly username: string;
  readonly host: string;
  readonly port: number;
  readonly hostKey: HostKeyFingerprint;
  /** Null where it has not been probed yet. */
  readonly facts: ServerFacts | null;
}

/** With its private key opened. */
export async function readTarget(ctx: ServerAccess, workspaceId: WorkspaceId, id: ServerId) {
  const row = await queries.findTarget(ctx.db, { workspaceId, id });
  if (!row) throw serverNotFound();
  const privateKey = await ctx.sealer.open(ctx.db, privateKeyContext(workspaceId, id), row.privateKeySealed);
  return { ...row, privateKey };
}

/**
 * The pooled connection, for whoever works on the server. A machine that another record has is not worked on; whoever
 * only takes back what is this record's own says so.
 */
export async function connectTo(
  ctx: ServerAccess,
  workspaceId: WorkspaceId,
  id: ServerId,
  { evenIfTaken = false }: { readonly evenIfTaken?: boolean } = {},
): Promise<ServerConnection> {
  const target = await readTarget(ctx, workspaceId, id);
  const { host, port, username, hostKey, privateKey, facts } = target;
  if (target.status === 'host_key_changed') throw hostKeyChanged(hostKey, target.offeredHostKey);
  if (hostKey === null) {
    const message = 'The server has not been reached yet, so its host key is not known.';
    throw new Fault('server_not_ready', message, {
      hint: 'Install its public key for the user, then test it with POST /servers/test-connection.',
    });
  }
  if (target.isTaken && !evenIfTaken) throw serverTaken();
  const remote = ctx.pool.to({ serverId: id, host, port, username, privateKey, hostKey });
  return { remote, username, host, port, hostKey, facts };
}

/** Says nothing of whose the other record is. */
export function serverTaken(): Fault {
  return new Fault('server_taken', 'This machine is registered as another server already.', {
    hint: 'Remove the other one first, in whichever workspace it is. Two machines with the same host key count as one: give each its own (`ssh-keygen -A` after removing `/etc/ssh/ssh_host_*`).',
  });
}

export function hostKeyChanged(pinned: HostKeyFingerprint | null, offered: HostKeyFingerprint | null): Fault {
  return new Fault(
    'host_key_changed',
    'The server shows another host key than the pinned one. Nothing is done there until you accept it.',
    {
      hint: 'If you reinstalled the server, accept the new fingerprint with PATCH /servers/:id. If not, someone may be intercepting the connection.',
      evidence: `pinned ${pinned ?? 'none'}, offered ${offered ?? 'unknown'}`,
    },
  );
}
