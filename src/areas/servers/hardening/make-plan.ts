/** The plan, computed from what the server says of itself. What is as wanted already is not in it. */
import { createHash } from 'node:crypto';
import { Fault } from '../../../fault.ts';
import type { Remote } from '../../../remote/remote.ts';
import { type Plan, type PlanNote, type StepId, stepIds } from './plan.ts';
import { checkWish, type Wish } from './plan-request.ts';
import { readServerState } from './server-state.ts';
import { fileModes } from './steps/file-modes.ts';
import { dockerPorts, fail2ban, firewall } from './steps/network.ts';
import { banner, sshAlgorithms, sshNoPasswords, sshNoRoot, sshSettings } from './steps/ssh.ts';
import type { StepMaker } from './steps/step.ts';
import { sysctl } from './steps/sysctl.ts';
import { accounts, auditing, kernelModules, unattendedUpgrades, updates } from './steps/system.ts';

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

export async function makePlan(remote: Remote, wish: Wish): Promise<Plan> {
  checkWish(wish);
  const state = await readServerState(remote, wish);
  if (!/^(debian|ubuntu) /.test(state.system))
    throw new Fault('system_unsupported', `Hardening knows Debian and Ubuntu, not ${state.system}.`);
  const notes: PlanNote[] = [];
  const planning = { state, wish, note: (step: StepId, text: string) => notes.push({ step, text }) };
  const steps = stepIds
    .filter((id) => wish.steps === undefined || wish.steps.includes(id))
    .flatMap((id) => makers[id](planning) ?? []);
  const content = { version: 1 as const, system: state.system, steps, notes };
  const fingerprint = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  return { ...content, fingerprint };
}
