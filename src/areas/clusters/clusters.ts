/**
 * Clusters: several servers as one Docker Swarm. Owns who is in which, who manages, and how they are kept; refuses a server that
 * stands in another swarm or has environments, and any change while another is under way or the managers have no majority.
 */

import type { Clock } from '../../clock.ts';
import type { WorkspaceEvent } from '../../events/event-kinds.ts';
import { appendEvents } from '../../events/events.ts';
import { Fault } from '../../fault.ts';
import type { ClusterId, EnvironmentId, OperationId, ServerId, WorkspaceId } from '../../ids.ts';
import type { OperationQueue } from '../../operations/queue.ts';
import type { RemotePool } from '../../remote/remote.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import type { EnvironmentsOn } from '../servers/servers.ts';

export type ClusterStatus = 'creating' | 'ready' | 'degraded' | 'no_quorum' | 'unreachable' | 'failed';
export type MemberState = 'joining' | 'ready' | 'down' | 'leaving';
export type Availability = 'active' | 'drain';

export interface ClustersContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly queue: OperationQueue;
  readonly pool: RemotePool;
  readonly environmentsOn: EnvironmentsOn;
  /** Their proxies are told anew who answers, each by an operation of its own. */
  readonly routeEnvironments: (
    tx: Queryable,
    workspaceId: WorkspaceId,
    ids: readonly EnvironmentId[],
  ) => Promise<OperationId[]>;
  /** Environments that have this member for a home get another, before it leaves; those with data there refuse, unless it is lost. */
  readonly leaveHome: (
    tx: Queryable,
    workspaceId: WorkspaceId,
    home: {
      readonly environmentIds: readonly EnvironmentId[];
      readonly from: ServerId;
      readonly clusterId: ClusterId;
      readonly lost: boolean;
    },
    now: Date,
  ) => Promise<void>;
  /** Of these environments those that have data on the server, with what it is. */
  readonly dataOn: (
    tx: Queryable,
    workspaceId: WorkspaceId,
    environmentIds: readonly EnvironmentId[],
    serverId: ServerId,
  ) => Promise<ReadonlyMap<EnvironmentId, readonly string[]>>;
}

export const joinKind = 'cluster_join';
export const leaveKind = 'cluster_leave';
export const availabilityKind = 'cluster_availability';
export const rebootKind = 'cluster_reboot';
export const managersKind = 'cluster_managers';

export function clusterNotFound(): Fault {
  return new Fault('not_found', 'No such cluster.');
}

/** Last in the transaction that changed it. */
export function publishClusterUpdate(
  tx: Queryable,
  workspaceId: WorkspaceId,
  clusterId: ClusterId,
  reason: string,
) {
  return appendEvents<WorkspaceEvent>(tx, { workspaceId, feedId: workspaceId }, [
    { kind: 'cluster_updated', data: { clusterId, reason } },
  ]);
}
