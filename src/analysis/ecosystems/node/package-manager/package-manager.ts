/** Which package manager a package is installed with: `packageManager`, then lock files upwards, then engines. */
import { certain, conventional, type Evidenced, evidenced, guessed } from '../../../evidence.ts';
import { asMany, objectAt, valueAt } from '../../../readers/shape.ts';
import { join, parentOf, type Repository } from '../../../repository.ts';
import type { PackageManager, Warning } from '../../../result.ts';
import { exact, isBerry, type ManagerName, managers, managerVersionOf } from './manager-version.ts';
import { dependsOn, manifestText, packageIn } from './package-json.ts';
import { workspaceFolders } from './workspaces.ts';

export interface NodeManager {
  readonly name: ManagerName;
  /** Yarn from version 2 on. */
  readonly isBerry: boolean;
  readonly evidence: Evidenced<PackageManager>;
  readonly warnings: readonly Warning[];
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
const settings: readonly (readonly [string, ManagerName])[] = [
  ['pnpm-workspace.yaml', 'pnpm'],
  ['.pnpmfile.cjs', 'pnpm'],
  ['.yarnrc.yml', 'yarn'],
  ['.yarnrc', 'yarn'],
  ['bunfig.toml', 'bun'],
];

export function managerOf(repository: Repository, directory: string): NodeManager {
  const folders = workspaceFolders(repository, directory);
  const made = (
    name: ManagerName,
    version: string | null,
    lockFile: string | null,
    found: Found,
  ): NodeManager => {
    const value = { name, version, lockFile };
    return {
      name,
      isBerry: name === 'yarn' && isBerry(repository, value, folders),
      evidence: evidenced(value, found.certainty, found.file, found.note),
      warnings: locked?.warnings ?? [],
    };
  };
  const named = folders.map((each) => fromField(repository, each)).find((each) => each !== undefined);
  const locked = folders
    .map((each) => fromLockFile(repository, each, named?.name))
    .find((each) => each !== undefined);
  const first = named ?? locked;
  if (first) {
    const { name, file } = first;
    const lockFile = locked?.name === name ? locked.file : null;
    const version = named?.version ?? managerVersionOf(repository, name, lockFile, folders);
    const note = named ? `packageManager: ${name}` : `lock file of ${name}`;
    return made(name, version, lockFile, { certainty: certain, file, note });
  }
  // Corepack takes the nearest one, of a workspace or not.
  const above = foldersAbove(directory)
    .map((each) => fromField(repository, each))
    .find((each) => each !== undefined);
  if (above) {
    const { name, version, file } = above;
    return made(name, version, null, { certainty: conventional, file, note: `packageManager: ${name}` });
  }
  const { name, version, ...found } = withoutLockFile(repository, directory, folders);
  return made(name, version, null, found);
}

/** The nearest first. */
function foldersAbove(directory: string): readonly string[] {
  const above = parentOf(directory);
  return above === undefined ? [] : [above, ...foldersAbove(above)];
}

interface Found {
  readonly certainty: number;
  readonly file: string;
  readonly note: string;
}

/** Rush names the manager and its version in its own file. */
function fromRush(repository: Repository, directory: string): Named | undefined {
  const file = join(directory, 'rush.json');
  const rush = repository.json(file);
  const version = (name: string) => manifestText(rush?.[`${name}Version`]);
  const name = (['pnpm', 'npm', 'yarn'] as const).find((each) => version(each) !== undefined);
  return name && { name, version: exact(version(name)), file };
}

function fromField(repository: Repository, directory: string): Named | undefined {
  const rush = fromRush(repository, directory);
  if (rush) return rush;
  const manifest = packageIn(repository, directory);
  if (!manifest) return undefined;
  const { file, raw } = manifest;
  const field = manifestText(raw.packageManager) ?? '';
  const [, given, version = null] = /^(npm|pnpm|yarn|bun|deno)(?:@(\d[\w.-]{0,40}))?/.exec(field) ?? [];
  const name = managers.find((each) => each === given);
  if (name) return { name, version, file };
  const [wanted] = asMany(valueAt(raw, 'devEngines', 'packageManager'));
  const devName = managers.find((each) => each === valueAt(wanted, 'name'));
  return devName && { name: devName, version: exact(manifestText(valueAt(wanted, 'version'))), file };
}

/** A name that is known already decides between several. */
function fromLockFile(repository: Repository, directory: string, wanted: ManagerName | undefined) {
  const files = repository.directory(directory)?.files;
  const there = lockFiles.filter(([file]) => files?.has(file));
  const kinds = new Set(there.map(([, name]) => name));
  const scripts = [...(packageIn(repository, directory)?.scripts.values() ?? [])]
    .join(' ; ')
    .slice(0, 20_000);
  const called = [...kinds].filter((name) => name !== 'npm' && new RegExp(`\\b${name} `).test(scripts));
  const preferred = wanted ?? (called.length === 1 ? called[0] : undefined);
  const chosen = there.find(([, name]) => name === preferred) ?? there[0];
  if (!chosen) return undefined;
  const file = join(directory, chosen[0]);
  const message = `Lock files of ${[...kinds].join(' and ')} lie side by side; ${chosen[0]} is used.`;
  const warnings: readonly Warning[] = kinds.size > 1 ? [{ code: 'two_lock_files', message, file }] : [];
  return { name: chosen[1], file, warnings };
}

function withoutLockFile(
  repository: Repository,
  directory: string,
  folders: readonly string[],
): Named & Found {
  const manifest = packageIn(repository, directory);
  const file = manifest?.file ?? join(directory, 'package.json');
  if (file.endsWith('.json5'))
    return { name: 'pnpm', version: null, certainty: certain, file, note: 'only pnpm reads it' };
  const volta = objectAt(manifest?.raw, 'volta');
  for (const name of ['pnpm', 'yarn', 'bun'] as const) {
    const range = manifest?.engines.get(name) ?? manifestText(volta[name]);
    if (range !== undefined && !/please|use|not/i.test(range))
      return { name, version: exact(range), certainty: conventional, file, note: `engines.${name}` };
  }
  for (const folder of folders) {
    const found = settings.find(([each]) => repository.has(join(folder, each)));
    if (!found) continue;
    const [setting, name] = found;
    const version = managerVersionOf(repository, name, null, folders);
    return {
      name,
      version,
      certainty: conventional,
      file: join(folder, setting),
      note: `settings of ${name}`,
    };
  }
  const scripts = [...(manifest?.scripts.values() ?? [])].map((each) => each.slice(0, 500));
  const called = (['pnpm', 'yarn', 'bun'] as const).find((name) =>
    scripts.some((script) => new RegExp(`(?:^|&& |; )${name} (?!build )`).test(script)),
  );
  if (called)
    return { name: called, version: null, certainty: guessed, file, note: `scripts call ${called}` };
  if (['@types/bun', 'bun-types'].some((each) => manifest && dependsOn(manifest, each)))
    return { name: 'bun', version: null, certainty: conventional, file, note: 'types of Bun' };
  // A package on its own in a repository of another manager is most likely installed with that one.
  for (const folder of foldersAbove(directory)) {
    const above = fromLockFile(repository, folder, undefined);
    if (above) return { ...above, version: null, certainty: guessed, note: `${above.name} is used above` };
  }
  const version = exact(manifest?.engines.get('npm'));
  return { name: 'npm', version, certainty: conventional, file, note: 'no lock file' };
}
