/** Who uses a library of the workspace: what it needs, they need. */
import { parentOf, type Repository } from '../../../repository.ts';
import { packageIn } from './package-json.ts';

/** The apps that depend on the package that lies in the directory (or around it), by themselves or through others. */
export function dependentsOf(
  directory: string,
  apps: readonly string[],
  repository: Repository,
): readonly string[] {
  const file = repository.upwards(directory, ['package.json']);
  const name = file === undefined ? undefined : packageIn(repository, parentOf(file) ?? '')?.name;
  return name === undefined ? [] : apps.filter((app) => dependenciesOf(repository, app).has(name));
}

/** Names of all that a package depends on, those of other packages of the repository included. */
function dependenciesOf(repository: Repository, app: string): ReadonlySet<string> {
  const folders = packageFolders(repository);
  const found = new Set<string>();
  const open = [app];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const manifest = packageIn(repository, folder);
    for (const name of [
      ...(manifest?.dependencies.keys() ?? []),
      ...(manifest?.devDependencies.keys() ?? []),
    ]) {
      const next = folders.get(name);
      if (next !== undefined && !found.has(name)) open.push(next);
      found.add(name);
    }
  }
  return found;
}

/** Folders of the repository's own packages by name. */
export function packageFolders(repository: Repository): ReadonlyMap<string, string> {
  return repository.derived(findPackages);
}

function findPackages(repository: Repository): ReadonlyMap<string, string> {
  const folders = new Map<string, string>();
  for (const file of repository.filesUnder('', ['package.json'])) {
    const folder = parentOf(file) ?? '';
    const name = packageIn(repository, folder)?.name;
    if (name !== undefined && !folders.has(name)) folders.set(name, folder);
  }
  return folders;
}
