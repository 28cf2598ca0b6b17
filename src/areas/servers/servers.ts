/**
 * The servers of users. Owns what is known of each, its private key, the pinned host key, and which operations may run on
 * it; refuses all work on a server whose host key is not the pinned one, and never shows or stores a password.
 */
import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import type { WorkspaceEvent } from '../../events/event-kinds.ts';
import { appendEvents } from '../../events/events.ts';
import { type NoticeKind, raiseNotice } from '../../events/notices.ts';
import { Fault } from '../../fault.ts';
import type { EnvironmentId, ServerId, WorkspaceId } from '../../ids.ts';
import type { OperationQueue } from '../../operations/queue.ts';
import type { RemotePool } from '../../remote/remote.ts';
import type { ResolveHost } from '../../remote/ssh/tcp.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';

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
  /** Refuses addresses where no server may stand. */
  readonly resolveHost: ResolveHost;
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

export function serverNotFound(): Fault {
  return new Fault('not_found', 'No such server.');
}

export function privateKeyContext(workspaceId: WorkspaceId, id: ServerId) {
  return { workspaceId, table: 'servers', row: id, column: 'private_key_sealed' } as const;
}

/** In the transaction of what happened. */
export function raiseServerNotice(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, name, host }: { readonly id: ServerId; readonly name: string; readonly host: string },
  { kind, now, data }: { kind: NoticeKind; now: Date; data?: Readonly<Record<string, unknown>> },
) {
  const key = `${kind}:${id}:${now.toISOString()}`;
  const subject = { type: 'server', id };
  return raiseNotice(tx, { workspaceId, kind, key, subject, data: { serverName: name, host, ...data } });
}

/** Last in the transaction that changed the server. */
export function publishServerUpdate(
  tx: Queryable,
  workspaceId: WorkspaceId,
  serverId: ServerId,
  reason: string,
) {
  const data = { serverId, reason };
  return appendEvents<WorkspaceEvent>(tx, { workspaceId, feedId: workspaceId }, [
    { kind: 'server_updated', data },
  ]);
}
