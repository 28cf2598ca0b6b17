/** Runs programs of the project side by side, and shows what they print as each ends. */
import { fileURLToPath } from 'node:url';
import { attempt } from '../lab/command.ts';

export const root = fileURLToPath(new URL('..', import.meta.url));

type Command = readonly [program: string, ...args: string[]];

/** Types of what runs in Node, types of what runs in a browser, lint and format. */
export const checks: readonly Command[] = [
  ['tsc', '-p', '.'],
  ['tsc', '-p', 'web'],
  ['biome', 'ci', '--error-on-warnings', '.'],
];

/** Whether all of them ended well. */
export async function runAll(...commands: readonly Command[]): Promise<boolean> {
  const ended = commands.map(async ([program, ...args]) => {
    const { code, stdout, stderr } = await attempt(`${root}node_modules/.bin/${program}`, args, {
      cwd: root,
    });
    process.stderr.write(stdout + stderr);
    return code === 0;
  });
  return (await Promise.all(ended)).every(Boolean);
}
