/** What every step of a deployment has in hand: the rows it is about, the way to the server, and what steps before said. */
import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Target } from '../../../engine/engine.ts';
import type { Placement } from '../../../engine/placement.ts';
import type { DeploymentId, EnvironmentId, ServerId, WorkspaceId } from '../../../ids.ts';
import type { Json, RowsContext, StepContext } from '../../../operations/definition.ts';
import type { Secret } from '../../../secret.ts';
import type { Queryable } from '../../../store/database.ts';
import { type EnvironmentState, readEnvironmentState } from '../../environments/environment-state.ts';
import { openTarget, type TargetAccess } from '../../environments/placement/open-target.ts';
import { ensurePlacement, placementsOf } from '../../environments/placement/placements.ts';
import { type DeploymentsContext, deploymentNotFound } from '../deployments.ts';
import { type DeploymentInputs, openInputs } from '../inputs.ts';
import * as queries from '../queries.ts';

export interface Input {
  readonly deploymentId: DeploymentId;
  readonly environmentId: EnvironmentId;
}

export interface DeployStepContext {
  readonly ctx: DeploymentsContext;
  readonly workspaceId: WorkspaceId;
  readonly deployment: queries.DeploymentRow;
  readonly environment: EnvironmentState;
  readonly step: StepContext;
}

/** Of a step that is rows alone: the same, read and written in one transaction. */
export interface DeployRowsContext {
  readonly ctx: DeploymentsContext;
  readonly tx: Queryable;
  readonly workspaceId: WorkspaceId;
  readonly deployment: queries.DeploymentRow;
  readonly environment: EnvironmentState;
  readonly step: RowsContext;
}

export async function deployStepContext(
  ctx: DeploymentsContext,
  input: Input,
  step: StepContext,
): Promise<DeployStepContext> {
  const { workspaceId } = step;
  const [deployment, environment] = await Promise.all([
    queries.findDeployment(ctx.db, workspaceId, input.deploymentId),
    readEnvironmentState(ctx.db, workspaceId, input.environmentId),
  ]);
  if (!deployment || !environment) throw deploymentNotFound();
  return { ctx, workspaceId, deployment, environment, step };
}

export async function deployRowsContext(
  ctx: DeploymentsContext,
  tx: Queryable,
  input: Input,
  step: RowsContext,
): Promise<DeployRowsContext> {
  const { workspaceId } = step;
  const deployment = await queries.findDeployment(tx, workspaceId, input.deploymentId);
  const environment = await readEnvironmentState(tx, workspaceId, input.environmentId);
  if (!deployment || !environment) throw deploymentNotFound();
  return { ctx, tx, workspaceId, deployment, environment, step };
}

/** The server is the one that was chosen when the deployment began; a move that comes later waits for its end. */
export async function targetOf(
  work: DeployStepContext,
  serverId: ServerId = work.deployment.serverId,
): Promise<Target> {
  const { ctx, step } = work;
  const place = await placeOf(work, serverId);
  return openTarget(step.outputs.has('plan') ? rememberingSecrets(work) : ctx.servers, place, step);
}

/** Its server is another than was asked for where a cluster has given it another home meanwhile. */
export async function placeOf(
  { ctx, workspaceId, environment, deployment }: DeployStepContext,
  serverId: ServerId = deployment.serverId,
): Promise<Placement> {
  const places = await placementsOf(ctx.db, workspaceId, environment.id);
  const known = places.find((place) => place.serverId === serverId);
  // There since the deployment was asked for, unless it was linked elsewhere meanwhile.
  return (
    known ??
    ctx.db.transaction((tx) => ensurePlacement(tx, workspaceId, environment.id, serverId, ctx.clock.now()))
  );
}

/** By what a run of the steps keeps of them: the secrets go when it does. */
const remembered = new WeakMap<DeployStepContext['step']['outputs'], readonly Secret[]>();

/**
 * All secrets of the environment, opened once for the steps after `plan`. Those that this deployment is made with are
 * decided by then, and are named beside these wherever they are used: a later one is none of it.
 */
function rememberingSecrets({ ctx, step: { outputs } }: DeployStepContext): TargetAccess {
  const secretsOf: TargetAccess['secretsOf'] = async (...of) => {
    const known = remembered.get(outputs) ?? (await ctx.servers.secretsOf(...of));
    remembered.set(outputs, known);
    return known;
  };
  return { ...ctx.servers, secretsOf };
}

/** What `plan` has decided. Steps after it read settings and variables from nowhere else. */
export function inputsOf({ ctx, workspaceId, deployment }: DeployStepContext): Promise<DeploymentInputs> {
  return openInputs(ctx.db, ctx.sealer, workspaceId, deployment.id);
}

const Container = Type.Object({
  name: Type.String(),
  process: Type.String(),
  address: Type.String(),
  isRunning: Type.Boolean(),
});

const Image = Type.Object({
  id: Type.String(),
  exposedPorts: Type.Array(Type.Integer()),
  user: Type.String(),
});

const Commit = Type.Object({
  sha: Type.String(),
  message: Type.String(),
  author: Type.String(),
  branch: Type.Union([Type.String(), Type.Null()]),
});

/** What the steps leave for those after them. No secret is ever among it. */
export const outputs = {
  fetch: Type.Object({ commit: Commit, tree: Type.String() }),
  plan: Type.Object({
    /** The image, where it is there already; nothing is built then. */
    found: Type.Union([Image, Type.Null()]),
    /** All images of the environment that are there, by the names that releases have for them. */
    tags: Type.Array(Type.String()),
    /** Of those that have no other name. */
    imageIds: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** What runs now: it goes on until the new one has taken over. */
    old: Type.Array(Container),
    oldPort: Type.Union([Type.Integer(), Type.Null()]),
    taken: Type.Array(Type.String()),
    previous: Type.Union([
      Type.Object({ deploymentId: Type.String(), releaseId: Type.String() }),
      Type.Null(),
    ]),
    previousServerIds: Type.Array(Type.String()),
    /** Names of later steps that have nothing to do. */
    idle: Type.Optional(Type.Array(Type.String())),
  }),
  send: Type.Object({ isBuilt: Type.Boolean() }),
  build: Type.Object({ built: Type.Union([Image, Type.Null()]) }),
  'create-release': Type.Object({ releaseId: Type.String() }),
  start: Type.Object({ web: Type.Array(Type.Omit(Container, ['isRunning'])) }),
  processes: Type.Object({ names: Type.Array(Type.String()) }),
} as const;

export type Outputs = typeof outputs;
export type OutputOf<Name extends keyof Outputs> = Type.Static<Outputs[Name]>;

export function outputOf<Name extends keyof Outputs>(
  { step }: Pick<DeployRowsContext, 'step'>,
  name: Name,
): OutputOf<Name> {
  const found = readOutput(step.outputs.get(name), name);
  if (found === undefined) throw new Error(`the step ${name} has left nothing`);
  return found;
}

/** Undefined where the step has not ended: an undo may come before that. */
export function readOutput<Name extends keyof Outputs>(
  stored: Json | undefined,
  name: Name,
): OutputOf<Name> | undefined {
  const schema: Outputs[Name] = outputs[name];
  return Value.Check(schema, stored) ? stored : undefined;
}
