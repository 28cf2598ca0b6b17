/** Runs programs of the project one after the other, showing their output; stops at the first that fails. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

export function runAll(...commands: readonly (readonly [program: string, ...args: string[]])[]): void {
  for (const [program, ...args] of commands) {
    const { status } = spawnSync(`${root}node_modules/.bin/${program}`, args, {
      cwd: root,
      stdio: 'inherit',
    });
    if (status !== 0) process.exit(status ?? 1);
  }
}
