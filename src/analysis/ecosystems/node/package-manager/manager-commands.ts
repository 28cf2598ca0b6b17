/** What one types to have a package manager do something. */
import type { NodeManager } from './package-manager.ts';

export function installCommand({ name, isBerry: berry, evidence: { value } }: NodeManager): string {
  const isLocked = value.lockFile !== null;
  if (name === 'npm') return isLocked ? 'npm ci' : 'npm install';
  if (name === 'deno') return 'deno install';
  if (!isLocked) return `${name} install`;
  return berry ? 'yarn install --immutable' : `${name} install --frozen-lockfile`;
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
