/** Which package manager a package is installed with: `packageManager`, then lock files upwards, then engines. */

import { certain, conventional, type Evidenced, evidenced, guessed } from '../../evidence.ts';
import { isParsed, join, parentOf, type Repository } from '../../repository.ts';
import type { PackageManager } from '../../result.ts';
import { exact, isBerry, versionOf } from './manager-version.ts';
import { type PackageJson, packageIn, textOf } from './package-json.ts';
import { workspaceRootOf } from './workspaces.ts';

export const managers = ['npm', 'pnpm', 'yarn', 'bun', 'deno'] as const;
export type ManagerName = (typeof managers)[number];

export interface NodeManager {
  readonly name: ManagerName;
  /** Yarn from version 2 on. */
  readonly isBerry: boolean;
  readonly told: Evidenced<PackageManager>;
}

interface Named {
  readonly name: ManagerName;
  readonly version: string | null;
  readonly file: string;
}

/** Of two in one folder the one further up counts: nobody has pnpm's by accident, and npm makes its own unasked. */
const lockFiles: readonly (readonly [string, ManagerName])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['yarn.lock', 'yarn'],
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
];
const signs: readonly (readonly [string, ManagerName])[] = [
  ['pnpm-workspace.yaml', 'pnpm'],
  ['.pnpmfile.cjs', 'pnpm'],
  ['.yarnrc.yml', 'yarn'],
  ['.yarnrc', 'yarn'],
  ['bunfig.toml', 'bun'],
];

export function managerOf(repository: Repository, directory: string): NodeManager {
  const root = workspaceRootOf(repository, directory);
  const folders = root === undefined || root === directory ? [directory] : [directory, root];
  const named = folders.map((each) => fromField(repository, each)).find((each) => each !== undefined);
  const locked = folders
    .map((each) => fromLockFile(repository, each, named?.name))
    .find((each) => each !== undefined);
  const name = named?.name ?? locked?.name;
  if (name !== undefined && (named || locked)) {
    const lockFile = locked?.name === name ? locked.file : null;
    const file = named?.file ?? locked?.file ?? '';
    const version = named?.version ?? versionOf(repository, directory, name, lockFile, folders);
    return made(
      repository,
      evidenced(
        { name, version, lockFile },
        certain,
        file,
        named ? `packageManager: ${name}` : `lock file of ${name}`,
      ),
      name,
      folders,
    );
  }
  return fromSigns(repository, directory, folders);
}

function made(
  repository: Repository,
  value: Evidenced<PackageManager>,
  name: ManagerName,
  folders: readonly string[],
): NodeManager {
  return { name, told: value, isBerry: name === 'yarn' && isBerry(repository, value.value, folders) };
}

/** Rush names the manager and its version in its own file. */
function fromRush(repository: Repository, directory: string): Named | undefined {
  const file = join(directory, 'rush.json');
  const settings = repository.has(file) ? repository.json(file) : undefined;
  const name = (['pnpm', 'npm', 'yarn'] as const).find(
    (each) => textOf(settings?.[`${each}Version`]) !== undefined,
  );
  return name && { name, version: exact(textOf(settings?.[`${name}Version`])), file };
}

function fromField(repository: Repository, directory: string): Named | undefined {
  const rush = fromRush(repository, directory);
  if (rush) return rush;
  const manifest = packageIn(repository, directory);
  const field = textOf(manifest?.raw.packageManager);
  const found =
    field === undefined ? undefined : /^(npm|pnpm|yarn|bun|deno)(?:@(\d[\w.-]{0,40}))?/.exec(field);
  const name = managers.find((each) => each === found?.[1]);
  if (manifest && name) return { name, version: found?.[2] ?? null, file: manifest.file };
  const wanted = isParsed(manifest?.raw.devEngines) ? manifest.raw.devEngines.packageManager : undefined;
  const first: unknown = Array.isArray(wanted) ? wanted[0] : wanted;
  const devName = isParsed(first) ? managers.find((each) => each === first.name) : undefined;
  if (!manifest || !devName || !isParsed(first)) return undefined;
  return { name: devName, version: exact(textOf(first.version)), file: manifest.file };
}

/** The name that was told elsewhere decides between several. */
function fromLockFile(repository: Repository, directory: string, wanted: ManagerName | undefined) {
  const files = repository.directory(directory)?.files;
  const there = lockFiles.filter(([file]) => files?.has(file));
  const kinds = new Set(there.map(([, name]) => name));
  const scripts = [...(packageIn(repository, directory)?.scripts.values() ?? [])].join(' ; ');
  const spoken = [...kinds].filter(
    (name) => name !== 'npm' && new RegExp(`\\b${name} `).test(scripts.slice(0, 20_000)),
  );
  const preferred = wanted ?? (spoken.length === 1 ? spoken[0] : undefined);
  const chosen = there.find(([, name]) => name === preferred) ?? there[0];
  if (!chosen) return undefined;
  if (
    kinds.size > 1 &&
    !repository.warnings.some(
      ({ code, file }) => code === 'two_lock_files' && file === join(directory, chosen[0]),
    )
  )
    repository.warn(
      'two_lock_files',
      `Lock files of ${[...kinds].join(' and ')} lie side by side; ${chosen[0]} is used.`,
      join(directory, chosen[0]),
    );
  return { name: chosen[1], file: join(directory, chosen[0]) };
}

function fromSigns(repository: Repository, directory: string, folders: readonly string[]): NodeManager {
  const manifest = packageIn(repository, directory);
  const file = manifest?.file ?? join(directory, 'package.json');
  const volta = isParsed(manifest?.raw.volta) ? manifest.raw.volta : {};
  for (const name of ['pnpm', 'yarn', 'bun'] as const) {
    const range = manifest?.engines.get(name) ?? textOf(volta[name]);
    if (range !== undefined && !/please|use|not/i.test(range))
      return made(
        repository,
        evidenced({ name, version: exact(range), lockFile: null }, conventional, file, `engines.${name}`),
        name,
        folders,
      );
  }
  for (const folder of folders) {
    for (const [sign, name] of signs) {
      if (!repository.has(join(folder, sign))) continue;
      const version = versionOf(repository, directory, name, null, folders);
      return made(
        repository,
        evidenced({ name, version, lockFile: null }, conventional, join(folder, sign), `settings of ${name}`),
        name,
        folders,
      );
    }
  }
  const spoken = bySpeech(manifest);
  if (spoken)
    return made(
      repository,
      evidenced({ name: spoken, version: null, lockFile: null }, guessed, file, `scripts call ${spoken}`),
      spoken,
      folders,
    );
  // A package on its own in a repository of another manager is most likely installed with that one.
  const above = nearestAbove(repository, directory);
  if (above)
    return made(
      repository,
      evidenced(
        { name: above.name, version: null, lockFile: null },
        guessed,
        above.file,
        `${above.name} is used above`,
      ),
      above.name,
      folders,
    );
  const version = exact(manifest?.engines.get('npm'));
  return made(
    repository,
    evidenced({ name: 'npm', version, lockFile: null }, conventional, file, 'no lock file'),
    'npm',
    folders,
  );
}

function bySpeech(manifest: PackageJson | undefined): ManagerName | undefined {
  const scripts = [...(manifest?.scripts.values() ?? [])].map((each) => each.slice(0, 500));
  return (['pnpm', 'yarn', 'bun'] as const).find((name) =>
    scripts.some((script) => new RegExp(`(?:^|&& |; )${name} (?!build )`).test(script)),
  );
}

function nearestAbove(
  repository: Repository,
  directory: string,
): { name: ManagerName; file: string } | undefined {
  for (let at = parentOf(directory); at !== undefined; at = parentOf(at)) {
    const found = fromLockFile(repository, at, undefined);
    if (found) return found;
  }
  return undefined;
}
