/** What a deployment shows of its operation's course, written in the transaction that changes it: never behind. */
import type { Clock } from '../../clock.ts';
import type { DeploymentEvent, News } from '../../events/event-kinds.ts';
import { appendEvents } from '../../events/events.ts';
import { type NoticeKind, raiseNotice } from '../../events/notices.ts';
import type { DeploymentId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { StateChange } from '../../operations/definition.ts';
import type { Queryable } from '../../store/database.ts';
import {
  type EnvironmentState,
  lockEnvironment,
  setServer,
  setStatus,
} from '../environments/environment-state.ts';
import type { EnvironmentStatus } from '../environments/environments.ts';
import { noticeHealth } from '../environments/notice-health.ts';
import { placementsOf } from '../environments/placement/placements.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import { type DeploymentStatus, isOver } from './deployments.ts';
import * as queries from './queries.ts';

/** Which step belongs to which status; they only move forward. */
const statusOfStep: Readonly<Record<string, DeploymentStatus>> = {
  fetch: 'preparing',
  plan: 'preparing',
  send: 'building',
  build: 'building',
  'create-release': 'building',
  services: 'starting',
  release: 'starting',
  start: 'starting',
  health: 'starting',
  processes: 'starting',
  prove: 'switching',
  switch: 'switching',
  crons: 'switching',
  promote: 'switching',
};

/** From here on it has done what it was for: what is stopped and cleared away then keeps nobody waiting. */
const afterSuccess = ['retire', 'clean-up'];

export async function followDeployment(
  tx: Queryable,
  clock: Clock,
  workspaceId: WorkspaceId,
  { deploymentId, environmentId }: { deploymentId: DeploymentId; environmentId: EnvironmentId },
  told: StateChange,
): Promise<void> {
  const isSuccess = told.state === 'running' && told.step !== null && afterSuccess.includes(told.step);
  const change: StateChange = isSuccess ? { state: 'succeeded' } : told;
  const before = await queries.lockDeployment(tx, workspaceId, deploymentId);
  if (!before || isOver(before.status)) return;
  const now = clock.now();
  const status = statusOf(change, before);
  const fault = 'fault' in change && status === 'failed' ? change.fault : null;
  const steps = stepsAfter(before.steps, change, now);
  await queries.setCourse(tx, workspaceId, deploymentId, { status, steps, fault }, now);
  const data = { status, step: change.state === 'running' ? change.step : null, ...(fault && { fault }) };
  const events: News<DeploymentEvent>[] = [{ kind: 'status', data }];
  if (isOver(status)) events.push({ kind: 'end', data });
  await appendEvents<DeploymentEvent>(tx, { workspaceId, feedId: deploymentId }, events);
  if (status === before.status) return;
  const environment = await lockEnvironment(tx, workspaceId, environmentId);
  // One that ends while it waits has changed nothing; another may be at work.
  const hasBegun = before.status !== 'queued' || !isOver(status);
  const shown = hasBegun ? environmentStatus(status, environment) : environment.status;
  // Kept while one is at work: if that leads to nothing, it is as bad as before.
  const problem = shown === 'degraded' || shown === 'deploying' ? environment.problem : null;
  await noticeHealth(tx, workspaceId, environment, { status: shown, problem }, now);
  if (shown !== environment.status) await setStatus(tx, workspaceId, environmentId, shown, problem, now);
  const isLostMove = before.trigger === 'move' && (status === 'failed' || status === 'cancelled');
  if (isLostMove) await stayWhereItIs(tx, workspaceId, environment, now);
  await noticeDeployment(tx, workspaceId, deploymentId, environment, { before: before.status, status });
  const news = { reason: 'deployment', environmentId, deploymentId, status } as const;
  await publishProjectEvent(tx, workspaceId, environment.projectId, news);
}

const noticed: Partial<Record<DeploymentStatus, NoticeKind>> = {
  succeeded: 'deployment_succeeded',
  failed: 'deployment_failed',
  cancelled: 'deployment_cancelled',
};

/** One that gives way to a newer one is no news: the newer one is. */
async function noticeDeployment(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: DeploymentId,
  { id: environmentId, projectId, name }: EnvironmentState,
  { before, status }: { readonly before: DeploymentStatus; readonly status: DeploymentStatus },
): Promise<void> {
  const hasStarted = before === 'queued' && !isOver(status);
  const kind = hasStarted ? 'deployment_started' : noticed[status];
  if (kind === undefined) return;
  const row = await queries.findDeployment(tx, workspaceId, id);
  if (!row) return;
  const { number, trigger, commit, uploadId, fault, startedAt, finishedAt } = row;
  const source = uploadId === null ? 'repository' : 'upload';
  const durationMs = startedAt && finishedAt ? finishedAt.getTime() - startedAt.getTime() : null;
  await raiseNotice(tx, {
    workspaceId,
    kind,
    key: `${kind}:${id}`,
    subject: { type: 'deployment', id },
    projectId,
    environmentId,
    data: { environmentName: name, number, trigger, source, commit, durationMs, fault },
  });
}

/** A move that led to nothing: it stands where its live release does, and is looked after there. */
async function stayWhereItIs(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, currentDeploymentId, serverId }: EnvironmentState,
  now: Date,
): Promise<void> {
  const live = currentDeploymentId && (await queries.findDeployment(tx, workspaceId, currentDeploymentId));
  // Another home in the same cluster is no move.
  const places = live ? await placementsOf(tx, workspaceId, id) : [];
  if (live && live.serverId !== serverId && places.some((place) => place.serverId === live.serverId))
    await setServer(tx, workspaceId, id, live.serverId, now);
}

function statusOf(change: StateChange, { status, supersededBy }: queries.LockedDeployment): DeploymentStatus {
  if (change.state === 'running') {
    if (change.step === null) return status === 'queued' ? 'preparing' : status;
    return statusOfStep[change.step] ?? status;
  }
  if (change.state === 'cancelled') return supersededBy === null ? 'cancelled' : 'superseded';
  return change.state;
}

function stepsAfter(
  steps: readonly queries.ShownStep[],
  change: StateChange,
  now: Date,
): queries.ShownStep[] {
  const at = now.toISOString();
  const ends = { running: 'done', succeeded: 'done', failed: 'failed', cancelled: 'cancelled' } as const;
  const isAgain = change.state === 'running' && steps.some(({ name }) => name === change.step);
  if (isAgain) return [...steps];
  const ended = steps.map((step) =>
    step.status === 'running' && !(change.state === 'running' && change.step === null)
      ? { ...step, status: ends[change.state], finishedAt: at }
      : step,
  );
  if (change.state !== 'running' || change.step === null) return ended;
  return [...ended, { name: change.step, status: 'running', startedAt: at, finishedAt: null }];
}

/** After the end it is what it was before, or what the deployment has made of it. */
function environmentStatus(
  status: DeploymentStatus,
  { currentReleaseId, wanted, problem }: EnvironmentState,
): EnvironmentStatus {
  if (!isOver(status)) return 'deploying';
  if (status === 'succeeded') return 'running';
  if (currentReleaseId === null) return 'idle';
  if (wanted === 'stopped') return 'stopped';
  return problem === null ? 'running' : 'degraded';
}
