/** What one types to have a package manager do something. */
import type { ManagerName } from './manager-version.ts';
import type { NodeManager } from './package-manager.ts';

export function installCommand({ name, isBerry, evidence: { value } }: NodeManager): string {
  return installWith(isBerry ? 'berry' : name, value.lockFile !== null);
}

/** By the lock file, and by nothing else, where there is one. */
export function installWith(name: ManagerName | 'berry', isLocked: boolean): string {
  switch (name) {
    case 'npm':
      return isLocked ? 'npm ci' : 'npm install';
    case 'deno':
      return 'deno install';
    case 'berry':
      return isLocked ? 'yarn install --immutable' : 'yarn install';
    default:
      return isLocked ? `${name} install --frozen-lockfile` : `${name} install`;
  }
}

/** As one types it: `npm start`, `npm run build`, `yarn start`. */
export function runScript({ name }: NodeManager, script: string): string {
  if (name === 'deno') return `deno task ${script}`;
  return script === 'start' && name !== 'bun' ? `${name} start` : `${name} run ${script}`;
}

/** A program of an installed package. */
export function runProgram({ name, isBerry: berry }: NodeManager, command: string): string {
  if (name === 'npm') return `npx ${command}`;
  if (name === 'bun') return `bunx ${command}`;
  if (name === 'deno') return `deno run -A npm:${command}`;
  return name === 'yarn' ? `yarn ${berry ? 'exec ' : ''}${command}` : `pnpm exec ${command}`;
}
