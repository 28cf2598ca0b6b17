/**
 * Pushes: how we hear of them, and what becomes of each. Owns the hooks of projects and the list of deliveries; refuses
 * what is not signed with the hook's secret. A push is decided on once, however often and by whatever way it comes in.
 */
import { randomBytes } from 'node:crypto';
import type { Mirrors } from '../../adapters/git/mirrors.ts';
import type { Clock } from '../../clock.ts';
import type { EnvironmentId, HookId, ProjectId, WorkspaceId } from '../../ids.ts';
import { newId } from '../../ids.ts';
import { Secret } from '../../secret.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import { lockPushed, lookSoon, setDecided } from '../environments/pushed-environments.ts';
import type { GitProvidersContext } from '../git-providers/git-providers.ts';
import { decide, type Push, type Reason, reasons } from './decide.ts';
import * as queries from './queries.ts';

/** Starts what the push asks for, in the transaction that decided it. */
export type DeployPush = (
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  commit: { readonly sha: string; readonly branch: string },
) => Promise<void>;

export interface PushesContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly mirrors: () => Promise<Mirrors>;
  readonly providers: GitProvidersContext;
  readonly deployPush: DeployPush;
  /** Where providers reach us. */
  readonly publicUrl: () => string;
}

export function secretPlace(workspaceId: WorkspaceId, id: HookId) {
  return { workspaceId, table: 'project_hooks', row: id, column: 'secret_sealed' } as const;
}

export function newSecret(): Secret {
  return new Secret(randomBytes(32).toString('base64url'));
}

export interface DeliverySource {
  readonly via: 'webhook' | 'poll';
  readonly event: string;
  readonly deliveryId: string | null;
}

const mostDeliveries = 500;
/** Counted by themselves: who cannot sign must not push out what was signed. */
const mostRejected = 50;

/** Decides for every environment of the project, and writes down what became of it. */
export async function handlePush(
  ctx: PushesContext,
  tx: Queryable,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  source: DeliverySource,
  push: Push,
): Promise<Reason> {
  const environments = await lockPushed(tx, workspaceId, projectId);
  // Asked under the lock: a delivery that is repeated meanwhile waits here, and then finds the first.
  if (
    source.deliveryId !== null &&
    (await queries.isKnownDelivery(tx, workspaceId, projectId, source.deliveryId))
  )
    return recordDelivery(
      ctx,
      tx,
      workspaceId,
      projectId,
      { ...source, deliveryId: null },
      push,
      [],
      'duplicate',
    );
  const outcomes: queries.EnvironmentOutcome[] = [];
  for (const environment of environments) {
    const reason = decide(environment, push);
    const { sha, branch } = push;
    if (reason === 'deployed' && sha !== null && branch !== null)
      await ctx.deployPush(tx, workspaceId, environment.id, { sha, branch });
    if (isFinal(reason) && sha !== null) await setDecided(tx, workspaceId, environment.id, sha);
    if (reason === 'outdated' || reason === 'unconfirmed')
      await lookSoon(tx, workspaceId, environment.id, ctx.clock.now());
    const outcome = reason === 'deployed' ? 'deployed' : 'ignored';
    outcomes.push({ environmentId: environment.id, name: environment.name, outcome, reason });
  }
  return recordDelivery(ctx, tx, workspaceId, projectId, source, push, outcomes, wholeReason(outcomes));
}

/** What was decided about the commit itself is not decided again, by whatever way it comes in next. */
function isFinal(reason: Reason): boolean {
  return reason === 'deployed' || reason === 'skip_requested' || reason === 'paths_not_watched';
}

/** One of them deployed is what counts; otherwise what is nearest to it, so that the list says something useful. */
function wholeReason(outcomes: readonly queries.EnvironmentOutcome[]): Reason {
  const said = new Set(outcomes.map(({ reason }) => reason));
  const order: readonly Reason[] = [
    ...([
      'deployed',
      'duplicate',
      'outdated',
      'unconfirmed',
      'skip_requested',
      'paths_not_watched',
      'no_server',
      'environment_stopped',
      'environment_off',
    ] as const),
    ...(['branch_deleted', 'other_branch', 'no_branch'] as const),
  ];
  return order.find((reason) => said.has(reason)) ?? 'no_environment';
}

/** Writes a delivery down, whatever became of it. */
export async function recordDelivery(
  ctx: PushesContext,
  tx: Queryable,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  source: DeliverySource,
  push: Pick<Push, 'branch' | 'sha'>,
  environments: readonly queries.EnvironmentOutcome[],
  reason: Reason,
): Promise<Reason> {
  const isRefused = reason === 'signature_invalid' || reason === 'unreadable';
  const outcome = reason === 'deployed' ? 'deployed' : isRefused ? 'rejected' : 'ignored';
  await queries.insertDelivery(tx, workspaceId, projectId, {
    id: newId(),
    ...source,
    branch: push.branch,
    commitSha: push.sha,
    outcome,
    reason,
    message: reasons[reason],
    environments,
    receivedAt: ctx.clock.now(),
  });
  const most = isRefused ? mostRejected : mostDeliveries;
  await queries.deleteOldDeliveries(tx, workspaceId, projectId, { isRejected: isRefused, most });
  return reason;
}
