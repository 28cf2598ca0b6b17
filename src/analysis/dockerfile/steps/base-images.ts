/**
 * Which image, by what the repository asks for. A version is digits and dots, or it is not taken; then the line that is
 * supported longest is. A floating line (`24`) is chosen over a patch, so that a rebuild brings its fixes, unless the
 * repository names the patch itself.
 */
import type { Request } from '../request.ts';

export const defaultVersions = {
  node: '24',
  bun: '1',
  deno: '2.5.0',
  python: '3.13',
  go: '1.24',
  rust: '1',
  java: '21',
  php: '8.4',
  ruby: '3.4',
  dotnet: '8.0',
  elixir: '1.18',
} as const;

export type Runtime = keyof typeof defaultVersions;

export interface Version {
  readonly version: string;
  readonly why: string;
}

/** `parts`: how many numbers a tag of this image has at most. */
export function imageVersionOf(request: Request, runtime: Runtime, parts = 3): Version {
  const asked = request.versions[runtime];
  const found =
    asked === undefined
      ? undefined
      : /^[v=^~ ]{0,3}(\d{1,4}(?:\.\d{1,5}){0,2})(?:\.[x*])?$/.exec(asked.trim())?.[1];
  if (found === undefined) {
    const why =
      asked === undefined ? 'the repository asks for no version' : 'the version asked for is no number';
    return {
      version: defaultVersions[runtime],
      why: `${nameOf(runtime)} ${defaultVersions[runtime]}: ${why}`,
    };
  }
  const version = found.split('.').slice(0, parts).join('.');
  return { version, why: `${nameOf(runtime)} ${version}, as the repository asks` };
}

function nameOf(runtime: Runtime): string {
  const names = { dotnet: '.NET', php: 'PHP', node: 'Node.js' };
  return runtime === 'dotnet' || runtime === 'php' || runtime === 'node'
    ? names[runtime]
    : `${runtime.charAt(0).toUpperCase()}${runtime.slice(1)}`;
}

export function major(version: string): number {
  return Number(version.split('.')[0]);
}

/** Where compiled programs run: small, and with a shell for the health check. */
export const smallBase = 'debian:trixie-slim';
/** The same Debian as the images whose compilers link to its libraries. */
export const compiledBase = 'debian:bookworm-slim';
export const webServer = 'nginx:stable';
