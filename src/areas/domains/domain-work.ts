/** Operations that a change of names needs: routing them in a server's proxy, and issuing or installing a certificate. */
import type { AccountId, CertificateId, EnvironmentId, OperationId, WorkspaceId } from '../../ids.ts';
import { enqueueOperation } from '../../operations/operations.ts';
import type { OperationQueue } from '../../operations/queue.ts';
import type { Queryable } from '../../store/database.ts';
import { type EnvironmentState, readEnvironmentState } from '../environments/environment-state.ts';

/** Configures the names of an environment in its proxy; done by upkeep, which knows what runs there. */
export const routeKind = 'environment_route';
export const certificateKind = 'certificate';

interface RoutingInput {
  readonly requestedBy?: AccountId;
  /** A certificate that was removed with its last name: an operation of the environment that began before may have installed it again. */
  readonly without?: CertificateId | null;
}

export function enqueueRouting(
  tx: Queryable,
  ctx: { readonly queue: OperationQueue },
  workspaceId: WorkspaceId,
  { id, serverId }: Pick<EnvironmentState, 'id' | 'serverId'>,
  { requestedBy, without = null }: RoutingInput = {},
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

/** Of those that are there still: for whoever changes where their replicas are. */
export async function routeEnvironments(
  tx: Queryable,
  ctx: { readonly queue: OperationQueue },
  workspaceId: WorkspaceId,
  ids: readonly EnvironmentId[],
): Promise<OperationId[]> {
  const enqueued: OperationId[] = [];
  for (const id of ids) {
    const environment = await readEnvironmentState(tx, workspaceId, id);
    if (environment) enqueued.push(await enqueueRouting(tx, ctx, workspaceId, environment));
  }
  return enqueued;
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
