/** Work that names ask for: telling a server's proxy of them, and getting or installing a certificate. */
import type { AccountId, CertificateId, OperationId, WorkspaceId } from '../../ids.ts';
import { enqueueOperation } from '../../operations/operations.ts';
import type { OperationQueue } from '../../operations/queue.ts';
import type { Queryable } from '../../store/database.ts';
import type { EnvironmentState } from '../environments/environment-state.ts';

/** Brings the names of an environment to its proxy; done by upkeep, which knows what runs there. */
export const routeKind = 'environment_route';
export const certificateKind = 'certificate';

interface RoutingWish {
  readonly requestedBy?: AccountId;
  /** A certificate that went with its last name. Work of the environment that had read of it before may bring it back. */
  readonly without?: CertificateId | null;
}

export function enqueueRouting(
  tx: Queryable,
  ctx: { readonly queue: OperationQueue },
  workspaceId: WorkspaceId,
  { id, serverId }: Pick<EnvironmentState, 'id' | 'serverId'>,
  { requestedBy, without = null }: RoutingWish = {},
): Promise<OperationId> {
  return enqueueOperation(tx, ctx.queue, {
    workspaceId,
    kind: routeKind,
    input: { environmentId: id, without },
    queueKey: id,
    subject: { type: 'environment', id },
    ...(serverId !== null && { serverId }),
    ...(requestedBy !== undefined && { requestedBy }),
  });
}

export function enqueueCertificate(
  tx: Queryable,
  ctx: { readonly queue: OperationQueue },
  workspaceId: WorkspaceId,
  certificateId: CertificateId,
  requestedBy?: AccountId,
): Promise<OperationId> {
  return enqueueOperation(tx, ctx.queue, {
    workspaceId,
    kind: certificateKind,
    input: { certificateId },
    queueKey: certificateId,
    subject: { type: 'certificate', id: certificateId },
    ...(requestedBy !== undefined && { requestedBy }),
  });
}
