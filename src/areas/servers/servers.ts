/**
 * The servers that users give us. Owns what is known of each, its key, the pin of its host key, and who may work on
 * it; refuses all work on a server whose host key is not the pinned one, and never shows or stores a password.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import { appendEvents } from '../../events/events.ts';
import { Fault } from '../../fault.ts';
import type { EnvironmentId, ServerId, WorkspaceId } from '../../ids.ts';
import type { OperationQueue } from '../../operations/queue.ts';
import type { HostKeyFingerprint, Remote, RemotePool } from '../../remote/remote.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import * as queries from './queries.ts';

export type ServerStatus = 'pending' | 'ready' | 'unreachable' | 'host_key_changed';

/** What it takes to work on a server. */
export interface ServerAccess {
  readonly db: Database;
  readonly sealer: Sealer;
  readonly pool: RemotePool;
}

export interface ServersContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly queue: OperationQueue;
  readonly pool: RemotePool;
  readonly log: Logger;
  /** What stands on a server keeps it from being taken away; those who put it there know. */
  readonly environmentsOn: EnvironmentsOn;
}

export type EnvironmentsOn = (
  db: Queryable,
  workspaceId: WorkspaceId,
  serverId: ServerId,
) => Promise<{ readonly id: EnvironmentId; readonly name: string; readonly project: string }[]>;

export interface ServerFacts {
  readonly os: string;
  readonly arch: string;
  readonly cpus: number;
  readonly memoryMb: number;
  readonly diskFreeMb: number;
  readonly dockerVersion: string | null;
  readonly kernel: string;
}

export function notFound(): Fault {
  return new Fault('not_found', 'No such server.');
}

export function keyPlace(workspaceId: WorkspaceId, id: ServerId) {
  return { workspaceId, table: 'servers', row: id, column: 'private_key_sealed' } as const;
}

/** In the transaction that changed it, last. */
export function tellServer(tx: Queryable, workspaceId: WorkspaceId, serverId: ServerId, reason: string) {
  const data = { serverId, reason };
  return appendEvents(tx, { workspaceId, feedId: workspaceId }, [{ kind: 'server_updated', data }]);
}

export interface Connected {
  readonly remote: Remote;
  readonly username: string;
  readonly host: string;
  readonly port: number;
  readonly hostKey: HostKeyFingerprint;
}

/** The way to a server for whoever works on it. */
export async function connectTo(
  ctx: ServerAccess,
  workspaceId: WorkspaceId,
  id: ServerId,
): Promise<Connected> {
  const row = await queries.findTarget(ctx.db, workspaceId, id);
  if (!row) throw notFound();
  if (row.status === 'host_key_changed') throw hostKeyChanged(row.hostKey, row.offeredHostKey);
  if (row.hostKey === null) {
    throw new Fault(
      'server_not_ready',
      'The server has not been reached yet, so its host key is not known.',
      {
        hint: 'Test the connection first.',
      },
    );
  }
  const { host, port, username, hostKey } = row;
  const privateKey = await ctx.sealer.open(ctx.db, keyPlace(workspaceId, id), row.privateKeySealed);
  const remote = ctx.pool.to({ serverId: id, host, port, username, privateKey, hostKey });
  return { remote, username, host, port, hostKey };
}

export function hostKeyChanged(pinned: HostKeyFingerprint | null, offered: HostKeyFingerprint | null): Fault {
  return new Fault(
    'host_key_changed',
    'The server shows another host key than the one that was pinned. Nothing is done there until you accept it.',
    {
      hint: 'If you reinstalled the server, accept the new fingerprint with PATCH /servers/:id. If not, someone may be in between.',
      evidence: `pinned ${pinned ?? 'none'}, offered ${offered ?? 'unknown'}`,
    },
  );
}
