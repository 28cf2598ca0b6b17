/**
 * Services of environments: the databases beside an application. Owns what is wanted of each, its credentials, its
 * container and its volume; refuses a version that could not read the data, to show a password to anyone but the
 * application and those who may read secrets, and to lose data that nobody asked to delete.
 */
import type { Clock } from '../../clock.ts';
import type { ServiceId, WorkspaceId } from '../../ids.ts';
import type { OperationQueue } from '../../operations/queue.ts';
import type { Database } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import type { TargetAccess } from '../environments/placement/open-target.ts';

export const serviceStatuses = ['pending', 'starting', 'running', 'failed', 'stopped', 'removed'] as const;
export type ServiceStatus = (typeof serviceStatuses)[number];

/** Why it does not run, as it is kept and shown. */
export interface ServiceProblem {
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  readonly evidence: string | null;
}

/** What work on services needs. */
export interface ServicesContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
}

/** What asking for it needs, too. */
export interface ServiceRequestsContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly queue: OperationQueue;
  /** The ways to servers. */
  readonly servers: TargetAccess;
}

export function credentialsPlace(workspaceId: WorkspaceId, id: ServiceId) {
  return { workspaceId, table: 'services', row: id, column: 'credentials_sealed' } as const;
}
