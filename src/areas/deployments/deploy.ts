/**
 * A deployment, from the commit to the last request of the old release. Each step looks before it acts and says how it
 * is undone. Until the environment points to the new release the old one is the truth: whatever fails or is cancelled
 * before leads back to it, and it has served all the while.
 */
import { minute } from '../../clock.ts';
import type { DeploymentId, EnvironmentId } from '../../ids.ts';
import { defineOperation, type Json, type OperationKind, type Step } from '../../operations/definition.ts';
import { assertLease } from '../../operations/operations.ts';
import { insist, retryUntilDone, transientRetry } from '../releases/transient-retry.ts';
import { withBoundedLog } from './bounded-log.ts';
import { type DeploymentsContext, deployKind } from './deployments.ts';
import { followDeployment } from './follow-deployment.ts';
import { forgetOperations } from './prune-queries.ts';
import { build, makeRelease, unbuild } from './steps/build.ts';
import { fetchCommit } from './steps/fetch.ts';
import { plan, send, unsend } from './steps/prepare.ts';
import {
  health,
  processes,
  runReleaseCommand,
  services,
  start,
  undoReleaseCommand,
  unstart,
} from './steps/start.ts';
import {
  type DeployRowsContext,
  type DeployStepContext,
  deployRowsContext,
  deployStepContext,
  type Input,
  readOutput,
} from './steps/step-context.ts';
import {
  cleanUp,
  crons,
  demote,
  promote,
  prove,
  retire,
  switchBack,
  switchTo,
  uncrons,
  unprove,
} from './steps/switch.ts';

type Work = (work: DeployStepContext) => Promise<Json | undefined>;
type RowsWork = (work: DeployRowsContext) => Promise<Json | undefined>;
type Undoing = ((work: DeployStepContext) => Promise<void>) | { readonly none: string };

/** Steps that log what others print; the lines of the other steps are ours, and few. */
const printing = new Set(['build', 'services', 'release']);

export function deployOperation(ctx: DeploymentsContext): OperationKind {
  const step = (name: string, minutes: number, run: Work, undo: Undoing): Step<Input> => ({
    name,
    deadlineMs: minutes * minute,
    retry: transientRetry,
    isIdle: (outputs) => readOutput(outputs.get('plan'), 'plan')?.idle?.includes(name) ?? false,
    run: async (input, context) =>
      printing.has(name)
        ? withBoundedLog(ctx.db, input, context, async (bounded) =>
            run(await deployStepContext(ctx, input, bounded)),
          )
        : run(await deployStepContext(ctx, input, context)),
    undo:
      typeof undo === 'function'
        ? (input, context) =>
            retryUntilDone(async () => undo(await deployStepContext(ctx, input, context)), context.signal)
        : undo,
  });
  const rowsStep = (name: string, work: RowsWork, undo: Undoing): Step<Input> => {
    const rows: NonNullable<Step<Input>['rows']> = async (tx, input, context) =>
      work(await deployRowsContext(ctx, tx, input, context));
    const run: Step<Input>['run'] = (input, context) =>
      ctx.db.transaction(async (tx) => {
        await assertLease(tx, context);
        return rows(tx, input, context);
      });
    return { ...step(name, 1, async () => undefined, undo), run, rows };
  };
  return defineOperation<Input>({
    kind: deployKind,
    readInput,
    logFeed: ({ deploymentId }) => deploymentId,
    onStateChange: (tx, { workspaceId, input }, change) =>
      followDeployment(tx, ctx.clock, workspaceId, input, change),
    onPrune: forgetOperations,
    steps: [
      step('fetch', 15, fetchCommit, { none: 'A mirror that is more up to date does no harm.' }),
      step('plan', 15, plan, { none: 'It only looks.' }),
      step('send', 30, send, unsend),
      step('build', 60, build, unbuild),
      rowsStep('create-release', makeRelease, { none: 'A release that nobody points to does no harm.' }),
      step('services', 15, services, { none: 'Services belong to the environment, not to a release.' }),
      step('release', 60, runReleaseCommand, undoReleaseCommand),
      step('start', 90, start, unstart),
      step('health', 180, health, { none: 'It only asks.' }),
      step('processes', 15, processes, { none: 'They go with the undo of the start.' }),
      step('prove', 90, prove, unprove),
      step('switch', 80, switchTo, switchBack),
      step('crons', 15, crons, uncrons),
      rowsStep('promote', promote, demote),
      {
        ...step('retire', 45, insisting(retire), { none: 'The environment does not point to it any more.' }),
        isPostCommit: true,
      },
      {
        ...step('clean-up', 30, insisting(cleanUp), { none: 'What is cleared away is not needed.' }),
        isPostCommit: true,
      },
    ],
  });
}

function insisting(work: Work): Work {
  return (context) => insist(() => work(context), context.step.signal);
}

function readInput(stored: unknown): Input {
  const { deploymentId, environmentId } = Object(stored);
  if (typeof deploymentId !== 'string' || typeof environmentId !== 'string')
    throw new Error('no deployment to make');
  return { deploymentId: deploymentId as DeploymentId, environmentId: environmentId as EnvironmentId };
}
