/**
 * How each package manager is brought into the image, what it installs by, where it keeps downloads, and how it leaves
 * out what only the build needs. Managers come from the package index by exact version: Corepack would ask a server of
 * its own, and images from Node 25 on do not have it.
 */

import { installWith } from '../../../ecosystems/node/package-manager/manager-commands.ts';
import { join } from '../../../repository.ts';
import type { Cache } from '../../document.ts';
import type { Request } from '../../request.ts';
import { quoted } from '../../text/grammar.ts';
import { type NodeProject, needsCompiler } from './manifests.ts';

export interface NodePackageManager {
  readonly name: 'npm' | 'pnpm' | 'yarn' | 'berry' | 'bun';
  /** A command that puts it into the image; `null` where the image has it. */
  readonly setUp: string | null;
  readonly install: string;
  /** Only what the app needs while it runs; the same as `install` where there is no such way. */
  readonly installLean: string;
  /** After `install`, in the same folder: removes what only the build needs; `null` where it cannot. */
  readonly prune: string | null;
  readonly cache: Cache;
  readonly env: Readonly<Record<string, string>>;
  /** Beside the manifests: files and folders at the root of the project that installing reads. */
  readonly reads: readonly string[];
}

const npmCache: Cache = { id: 'npm', target: '/root/.npm' };

export function packageManagerOf(request: Request, project: NodeProject): NodePackageManager {
  const { app, files } = request;
  const name = app.packageManager?.name ?? 'npm';
  const version = exactVersion(app.packageManager?.version ?? request.versions[name] ?? null);
  const has = (file: string) => files.has(join(project.root, file));
  if (name === 'pnpm')
    return pnpm(
      version ?? pnpmFor(lockText(request)),
      has('pnpm-lock.yaml'),
      project,
      needsCompiler(project, request),
    );
  if (name === 'bun') return bun(version ?? '1', has('bun.lock') || has('bun.lockb'));
  if (name !== 'yarn') return npm(has('package-lock.json') || has('npm-shrinkwrap.json'));
  const isBerry =
    version === null
      ? /^__metadata:/m.test(lockText(request)) || has('.yarnrc.yml')
      : !version.startsWith('1');
  if (!isBerry) return yarn(has('yarn.lock'));
  return berry(
    version ?? '4',
    has('yarn.lock'),
    project,
    /^yarnPath:/m.test(files.text(join(project.root, '.yarnrc.yml')) ?? ''),
  );
}

function npm(isLocked: boolean): NodePackageManager {
  const install = installWith('npm', isLocked);
  return {
    name: 'npm',
    setUp: null,
    install,
    installLean: `${install} --omit=dev`,
    prune: 'npm prune --omit=dev',
    cache: npmCache,
    env: {},
    reads: ['.npmrc'],
  };
}

function pnpm(
  version: string,
  isLocked: boolean,
  { inside, members }: NodeProject,
  rebuilds: boolean,
): NodePackageManager {
  const filter = inside === '' ? '' : ` --filter "{./${inside}}..."`;
  // Without a lock file pnpm has to be told that it may make one where it sees that nobody watches.
  const install = isLocked ? installWith('pnpm', true) : 'pnpm install --no-frozen-lockfile';
  const lean = `${install.replace('install', 'install --prod')}${filter}`;
  // In a workspace pnpm leaves behind what members that were filtered out had, so it begins anew from its store.
  const again = `find . -name node_modules -prune -exec rm -rf {} + && CI=true ${lean} --prefer-offline --ignore-scripts`;
  return {
    name: 'pnpm',
    setUp: `npm install --global pnpm@${version}`,
    install,
    installLean: lean,
    prune:
      members.length === 0
        ? 'CI=true pnpm prune --prod --ignore-scripts'
        : `${again}${rebuilds ? ' && pnpm rebuild' : ''}`,
    cache: { id: 'pnpm', target: '/root/.local/share/pnpm/store' },
    env: {},
    reads: ['.npmrc', 'pnpm-workspace.yaml', '.pnpmfile.cjs', 'patches'],
  };
}

function yarn(isLocked: boolean): NodePackageManager {
  const install = installWith('yarn', isLocked);
  return {
    name: 'yarn',
    setUp: 'command -v yarn || npm install --global yarn@1.22.22',
    install,
    installLean: `${install} --production`,
    prune: `${install} --production --ignore-scripts --prefer-offline`,
    cache: { id: 'yarn', target: '/usr/local/share/.cache/yarn' },
    env: {},
    reads: ['.npmrc', '.yarnrc', 'patches'],
  };
}

function berry(
  version: string,
  isLocked: boolean,
  { inside }: NodeProject,
  hasOwn: boolean,
): NodePackageManager {
  const focus = `${inside === '' ? '' : `cd ${quoted(inside)} && `}yarn workspaces focus --production`;
  const install = installWith('berry', isLocked);
  return {
    name: 'berry',
    setUp: hasOwn ? null : `npm install --global --force @yarnpkg/cli-dist@${version}`,
    install,
    installLean: install,
    // Part of Yarn itself since 4; before, a plugin that is seldom there.
    prune: Number(version.split('.')[0]) >= 4 ? focus : null,
    cache: { id: 'yarn-berry', target: '/root/.yarn/berry/cache' },
    // With Plug'n'Play nothing but Yarn itself could start the app.
    env: { YARN_NODE_LINKER: 'node-modules', YARN_ENABLE_GLOBAL_CACHE: 'true', YARN_ENABLE_TELEMETRY: '0' },
    reads: ['.npmrc', '.yarnrc.yml', '.yarn'],
  };
}

function bun(version: string, isLocked: boolean): NodePackageManager {
  const install = installWith('bun', isLocked);
  return {
    name: 'bun',
    setUp: `npm install --global bun@${version}`,
    install,
    installLean: `${install} --production`,
    prune: `rm -rf node_modules && ${install} --production --ignore-scripts`,
    cache: { id: 'bun', target: '/root/.bun/install/cache' },
    env: {},
    reads: ['.npmrc', 'bunfig.toml', 'patches'],
  };
}

function lockText(request: Request): string {
  const lock = request.app.packageManager?.lockFile ?? null;
  return (lock === null ? undefined : request.files.text(lock)?.slice(0, 2_000)) ?? '';
}

/** The newest line that still reads the format of the lock file. */
function pnpmFor(lock: string): string {
  const format = Number(/^lockfileVersion: '?(\d+)/m.exec(lock)?.[1] ?? 9);
  return format >= 9 ? '10' : format >= 6 ? '8' : '7';
}

function exactVersion(version: string | null): string | null {
  return version !== null && /^\d{1,4}(\.\d{1,5}){0,2}$/.test(version) ? version : null;
}
