/** Which version of a package manager is meant, from its lock file, its settings and engines. */
import semver from 'semver';
import { join, type Repository } from '../../../repository.ts';
import type { PackageManager } from '../../../result.ts';
import { manifestText, packageIn } from './package-json.ts';

export const managers = ['npm', 'pnpm', 'yarn', 'bun', 'deno'] as const;
export type ManagerName = (typeof managers)[number];

export function managerVersionOf(
  repository: Repository,
  name: ManagerName,
  lockFile: string | null,
  folders: readonly string[],
): string | null {
  const byLock = lockFile === null ? null : lockVersion(repository, name, lockFile);
  if (name === 'yarn') return yarnRelease(repository, folders) ?? byLock;
  const asked = folders
    .map((folder) => packageIn(repository, folder)?.engines.get(name))
    .find((range) => range !== undefined);
  return byLock !== null && isOpenTo(asked, byLock) ? byLock : (exact(asked) ?? byLock);
}

/** Several lines are allowed, and that of the lock file is one of them. Versions 9 and 10 of pnpm write the same format. */
function isOpenTo(range: string | undefined, line: string): boolean {
  const valid = range === undefined ? '*' : semver.validRange(range, { loose: true });
  if (valid === null) return true;
  const isOneLine = !semver.intersects(valid, `>=${(semver.minVersion(valid)?.major ?? 0) + 1}.0.0`);
  return !isOneLine && semver.intersects(valid, `^${line}`);
}

/** Only the head of a lock file is looked at: it may have megabytes. */
function lockVersion(repository: Repository, name: ManagerName, lockFile: string): string | null {
  const head = repository.bytes(lockFile)?.subarray(0, 4_000).toString('utf8') ?? '';
  if (name === 'pnpm') {
    const version = Number(/^lockfileVersion:\s*['"]?(\d+(?:\.\d+)?)/m.exec(head)?.[1] ?? 0);
    if (version === 0) return null;
    if (version >= 9) return '9';
    return version >= 6 ? '8' : version >= 5.4 ? '7' : '6';
  }
  if (name === 'yarn') {
    if (/yarn lockfile v1/.test(head)) return '1';
    const metadata = Number(/^__metadata:\s*\n\s+version:\s*(\d+)/m.exec(head)?.[1] ?? 0);
    if (metadata === 0) return head === '' ? null : '1';
    return metadata >= 8 ? '4' : metadata >= 5 ? '3' : '2';
  }
  return null;
}

function yarnRelease(repository: Repository, folders: readonly string[]): string | null {
  for (const folder of folders) {
    const path = repository.yaml(join(folder, '.yarnrc.yml'))?.yarnPath;
    const found = /yarn-(\d+\.\d+\.\d+)\.[cm]?js$/.exec(manifestText(path) ?? '');
    if (found?.[1]) return found[1];
  }
  return null;
}

export function isBerry(
  repository: Repository,
  { version, lockFile }: PackageManager,
  folders: readonly string[],
): boolean {
  if (version !== null) return !/^[01](?:\.|$)/.test(version);
  return lockFile === null && folders.some((folder) => repository.has(join(folder, '.yarnrc.yml')));
}

/** `>=9.1.0` and `^9` become 9.1.0 and 9; an exact version stays as it is. */
export function exact(range: string | undefined): string | null {
  return /(\d+(?:\.\d+){0,2})/.exec(range?.slice(0, 60) ?? '')?.[1] ?? null;
}
