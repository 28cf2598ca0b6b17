/**
 * One step of a plan. It may be run again after a kill anywhere: the folder of the step on the server has the former
 * state, and every part checks before it acts. A risky step is: verify that a new login works, arm, change, check, verify
 * again, disarm.
 */
import { randomUUID } from 'node:crypto';
import { errorText, Fault } from '../../../fault.ts';
import type { Fence, Remote } from '../../../remote/remote.ts';
import { aptProgress } from '../apt-progress.ts';
import { failedChecks } from './checks.ts';
import { arm, disarm, undoArmed } from './deadman.ts';
import { runDetached } from './detached.ts';
import { stateDir, undoScriptPath } from './paths.ts';
import type { Plan, StepId, StepPlan } from './plan.ts';
import { prepareStep, refuseChanged, stepDir, writeManifest } from './record.ts';

export interface ApplyOptions {
  readonly runId: string;
  /** A new TCP connection, a new authentication, and root on it. Rejects where that fails. */
  readonly verifyLogin: () => Promise<void>;
  readonly log: (line: string) => void;
  /** How far the step is, where that can be told. */
  readonly progress?: (fraction: number, text: string) => void;
  readonly fence?: Fence;
  /** How long the server waits for the login before it undoes the step. Default 120. */
  readonly deadmanSeconds?: number;
}

/** `absent`: the step is not in the plan, there was nothing to do. */
export async function applyStep(
  remote: Remote,
  plan: Plan,
  stepId: StepId,
  options: ApplyOptions,
): Promise<'applied' | 'absent'> {
  const step = plan.steps.find(({ id }) => id === stepId);
  if (!step) return 'absent';
  const { runId, log } = options;
  const dir = stepDir(runId, stepId);
  const standing = await prepareStep(remote, plan, step, runId);
  if (standing === 'applied') {
    log(`${step.title}: done before.`);
    await writeManifest(remote, dir, 'applied');
    return 'applied';
  }
  log(`${step.title}.`);
  await installPackages(remote, step, options);
  if (step.lockoutRisk) await changeGuarded(remote, step, options);
  else await changePlainly(remote, step, options);
  await writeManifest(remote, dir, 'applied');
  return 'applied';
}

async function installPackages(remote: Remote, step: StepPlan, options: ApplyOptions): Promise<void> {
  const { packages, id } = step;
  if (packages.length === 0) return;
  options.log(`Installing ${packages.join(', ')}.`);
  const argv = ['sh', `${stateDir}/install.sh`, ...packages];
  const progress = aptProgress((fraction, text) => options.progress?.(fraction, text));
  const line = (text: string) => {
    options.log(text);
    progress(text);
  };
  const { code, output } = await runDetached(remote, `install-${id}`, argv, options.fence, line);
  if (code !== 0)
    throw new Fault('remote_failed', `${packages.join(', ')} could not be installed.`, { evidence: output });
}

async function change(
  remote: Remote,
  step: StepPlan,
  token: string,
  { runId, fence, log }: ApplyOptions,
): Promise<void> {
  const argv = ['sh', `${stateDir}/change.sh`, stepDir(runId, step.id), token];
  const { code, output } = await runDetached(remote, step.id, argv, fence, log);
  if (code === 0) return;
  refuseChanged(output.split('\n'));
  if (code === 71)
    throw new Fault(
      'lockout_prevented',
      'The deadline passed before the change was made; nothing was changed.',
    );
  throw new Fault('remote_failed', `«${step.title}» failed on the server and was undone.`, {
    evidence: output,
  });
}

async function check(remote: Remote, step: StepPlan): Promise<void> {
  const failed = await failedChecks(remote, step.checks);
  if (failed.length === 0) return;
  throw new Fault('remote_failed', `«${step.title}» did not have its effect and was undone.`, {
    evidence: failed.join('\n'),
  });
}

async function changePlainly(remote: Remote, step: StepPlan, options: ApplyOptions): Promise<void> {
  try {
    await change(remote, step, '-', options);
    await check(remote, step);
  } catch (error) {
    if (error instanceof Fault && error.code === 'remote_failed')
      await remote.script('sh "$1" "$2"', [undoScriptPath, stepDir(options.runId, step.id)]);
    throw error;
  }
}

async function changeGuarded(remote: Remote, step: StepPlan, options: ApplyOptions): Promise<void> {
  const { verifyLogin, log, runId, deadmanSeconds = 120 } = options;
  await verifyLogin().catch((error) => {
    throw new Fault('lockout_prevented', `A new login fails already; «${step.title}» was not begun.`, {
      evidence: errorText(error),
      cause: error,
    });
  });
  const token = randomUUID();
  await arm(remote, token, stepDir(runId, step.id), deadmanSeconds);
  log(`The server undoes this by itself in ${deadmanSeconds} s unless a new login succeeds.`);
  try {
    await change(remote, step, token, options);
    await check(remote, step);
    await verifyLogin().catch((error) => {
      throw new Fault('lockout_prevented', `A new login failed after «${step.title}»; it was undone.`, {
        evidence: errorText(error),
        cause: error,
      });
    });
  } catch (error) {
    // The old connection may be dead with the change; then the timer does the same a little later.
    await undoArmed(remote, token).catch((undoError) => {
      log(`The server undoes the step itself, as it cannot be reached: ${errorText(undoError)}`);
    });
    throw error;
  }
  await disarm(remote, token);
  log('A new login succeeded.');
}
