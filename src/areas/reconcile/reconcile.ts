/**
 * Reconciling: what runs is what should. Owns stopping and starting environments, and the comparison of what runs with
 * what is desired; refuses to touch anything that does not carry our labels. New releases are the deployments' business,
 * removing an environment is its own.
 */

import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import type { Target } from '../../engine/engine.ts';
import type { Placement } from '../../engine/placement.ts';
import { Fault } from '../../fault.ts';
import type { AccountId, EnvironmentId, OperationId, WorkspaceId } from '../../ids.ts';
import type { Json, StepContext } from '../../operations/definition.ts';
import { enqueueOperation } from '../../operations/operations.ts';
import type { OperationQueue } from '../../operations/queue.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import { type EnvironmentState, readEnvironmentState } from '../environments/environment-state.ts';
import { environmentNotFound } from '../environments/environments.ts';
import { openTarget, type TargetAccess } from '../environments/placement/open-target.ts';
import { placementsOf } from '../environments/placement/placements.ts';

export const stopKind = 'environment_stop';
export const startKind = 'environment_start';

export interface ReconcileContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly queue: OperationQueue;
  readonly servers: TargetAccess;
  readonly log: Logger;
}

export interface EnvironmentWork {
  readonly workspaceId: WorkspaceId;
  readonly environment: EnvironmentState;
  readonly kind: typeof stopKind | typeof startKind;
  readonly input?: Readonly<Record<string, Json>>;
  readonly requestedBy?: AccountId;
}

/** After whatever is at work on the environment, in the caller's transaction. */
export function enqueueEnvironmentWork(
  tx: Queryable,
  ctx: ReconcileContext,
  input: EnvironmentWork,
): Promise<OperationId> {
  const { workspaceId, environment, kind, requestedBy } = input;
  const { id, serverId } = environment;
  return enqueueOperation(tx, ctx.queue, {
    workspaceId,
    kind,
    input: { environmentId: id, ...input.input },
    queueKey: id,
    subject: { type: 'environment', id },
    ...(serverId !== null && { serverId }),
    ...(requestedBy !== undefined && { requestedBy }),
  });
}

export interface Input {
  readonly environmentId: EnvironmentId;
}

export function readInput(stored: unknown): Input {
  const { environmentId } = Object(stored);
  if (typeof environmentId !== 'string') throw new Error('no environment to look after');
  return { environmentId: environmentId as EnvironmentId };
}

export async function environmentOf(
  ctx: ReconcileContext,
  { environmentId }: Input,
  { workspaceId }: Pick<StepContext, 'workspaceId'>,
): Promise<EnvironmentState> {
  const environment = await readEnvironmentState(ctx.db, workspaceId, environmentId);
  if (!environment) throw environmentNotFound();
  return environment;
}

/** Where it stands now; while it moves, the server that it moves to. */
export async function targetOf(
  ctx: ReconcileContext,
  environment: EnvironmentState,
  step: Pick<StepContext, 'operationId' | 'epoch' | 'signal' | 'workspaceId'>,
): Promise<Target> {
  const places = await placementsOf(ctx.db, step.workspaceId, environment.id);
  const place: Placement | undefined =
    places.find(({ serverId }) => serverId === environment.serverId) ?? places[0];
  if (!place) throw new Fault('server_not_linked', 'The environment stands on no server.');
  return openTarget(ctx.servers, place, step);
}
