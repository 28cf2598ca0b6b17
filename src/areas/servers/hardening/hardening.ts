/**
 * Hardening of a server that cannot lock anyone out. Owns the plan, what is put on the server, the record of its former
 * state, and the dead-man timer that undoes a risky step unless a new login has verified it. Refuses to edit a vendor's
 * file, to run anything but the plan that was shown, to touch a file that someone has changed since, and to count a step
 * as done before a fresh login went through. Knows nothing of HTTP, accounts or the database.
 */
import { createHash } from 'node:crypto';
import { Fault } from '../../../fault.ts';
import type { Remote } from '../../../remote/remote.ts';
import { type Plan, type PlanNote, type StepId, stepIds } from './plan.ts';
import { type PlanRequest, validatePlanRequest } from './plan-request.ts';
import { readServerState } from './server-state.ts';
import { fileModes, maxModes } from './steps/file-modes.ts';
import { dockerPorts, fail2ban, firewall } from './steps/network.ts';
import { banner, sshAlgorithms, sshNoPasswords, sshNoRoot, sshSettings } from './steps/ssh.ts';
import type { StepMaker } from './steps/step.ts';
import { sysctl, sysctlTargets } from './steps/sysctl.ts';
import { accounts, auditing, kernelModules, unattendedUpgrades, updates } from './steps/system.ts';

export { applyStep } from './apply.ts';
export { readRuns } from './runs.ts';
export { undoRun } from './undo.ts';

const makers: Readonly<Record<StepId, StepMaker>> = {
  updates,
  unattended_upgrades: unattendedUpgrades,
  accounts,
  file_modes: fileModes,
  sysctl,
  kernel_modules: kernelModules,
  auditing,
  firewall,
  docker_ports: dockerPorts,
  fail2ban,
  banner,
  ssh_settings: sshSettings,
  ssh_algorithms: sshAlgorithms,
  ssh_no_root: sshNoRoot,
  ssh_no_passwords: sshNoPasswords,
};

/** Computed from what the server reports of itself. What is as desired already is not in it. */
export async function makePlan(remote: Remote, request: PlanRequest): Promise<Plan> {
  validatePlanRequest(request);
  const keys = { sysctl: Object.keys(sysctlTargets), modes: Object.keys(maxModes) };
  const state = await readServerState(remote, request, keys);
  if (!/^(debian|ubuntu) /.test(state.system))
    throw new Fault('system_unsupported', `Hardening supports Debian and Ubuntu, not ${state.system}.`);
  const notes: PlanNote[] = [];
  const planning = { state, request, note: (step: StepId, text: string) => notes.push({ step, text }) };
  const steps = stepIds
    .filter((id) => request.steps === undefined || request.steps.includes(id))
    .flatMap((id) => makers[id](planning) ?? []);
  const content = { version: 1 as const, system: state.system, steps, notes };
  const fingerprint = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  return { ...content, fingerprint };
}
