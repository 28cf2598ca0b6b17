/** Whether a step had its effect. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Remote } from '../../../remote/remote.ts';
import type { StepCheck } from './plan.ts';
import { meetsExpectation, sshdValues } from './server-state.ts';

// Some services answer only a moment after they were started.
const patienceMs = 15_000;

/** What does not hold, in words; empty where all does. */
export async function failedChecks(remote: Remote, checks: readonly StepCheck[]): Promise<string[]> {
  const failed: string[] = [];
  for (const check of checks) {
    const problem = await (check.kind === 'sshd' ? sshd(remote, check) : succeeds(remote, check));
    if (problem) failed.push(problem);
  }
  return failed;
}

async function sshd(
  remote: Remote,
  { user, address, expect }: Extract<StepCheck, { kind: 'sshd' }>,
): Promise<string | undefined> {
  const asked = ['sshd', '-T', '-C', `user=${user},host=${address},addr=${address}`];
  const values = sshdValues((await remote.output(asked)).toString('utf8').split('\n'));
  const unmet = expect.filter((each) => !meetsExpectation(each, values));
  if (unmet.length === 0) return undefined;
  const shown = unmet.map(({ key }) => `${key} ${values.get(key)?.join(' ') ?? 'is not there'}`);
  return `Another file sets sshd otherwise: ${shown.join('; ')}`;
}

async function succeeds(
  remote: Remote,
  { argv, says }: Extract<StepCheck, { kind: 'succeeds' }>,
): Promise<string | undefined> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const { code, stdout, stderr } = await remote.run(argv);
    if (code === 0 && (says === undefined || stdout.toString('utf8').includes(says))) return undefined;
    if (Date.now() > deadline)
      return `\`${argv.join(' ')}\` ended with ${code}: ${`${stdout}${stderr}`.slice(-500)}`;
    await sleep(250);
  }
}
