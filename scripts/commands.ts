/** Runs programs of the project one after the other, showing their output; stops at the first that fails. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

type Command = readonly [program: string, ...args: string[]];

/** Types of what runs in Node, types of what runs in a browser, lint and format. */
export const checks: readonly Command[] = [
  ['tsc', '-p', '.'],
  ['tsc', '-p', 'web'],
  ['biome', 'ci', '--error-on-warnings', '.'],
];

export function runAll(...commands: readonly Command[]): void {
  for (const [program, ...args] of commands) {
    const { status } = spawnSync(`${root}node_modules/.bin/${program}`, args, {
      cwd: root,
      stdio: 'inherit',
    });
    if (status !== 0) process.exit(status ?? 1);
  }
}
