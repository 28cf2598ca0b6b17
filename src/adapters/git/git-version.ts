/** Whether the machine has a git that we can work with. `http.curloptResolve`, which pins the address, came with 2.37. */
import { Fault } from '../../fault.ts';
import { runGit } from './run-git.ts';

const least = [2, 37] as const;

export async function requireGit(env: Readonly<Record<string, string>> = {}): Promise<void> {
  const text = (await runGit({ args: ['version'], env })).toString().trim();
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(text) ?? [];
  const [a, b] = [Number(major), Number(minor)];
  if (a > least[0] || (a === least[0] && b >= least[1])) return;
  throw new Fault('git_unavailable', `The git on the machine of the service is too old: ${text}.`, {
    hint: `Install git ${least.join('.')} or newer.`,
  });
}
