/** Who uses a library of the workspace: what it needs, they need. */
import { isParsed, join, parentOf, type Repository } from '../../repository.ts';

const groups = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'];

/** The apps that depend on the package that lies in the directory (or around it), by themselves or through others. */
export function dependentsOf(
  directory: string,
  apps: readonly string[],
  repository: Repository,
): readonly string[] {
  const file = repository.upwards(directory, ['package.json']);
  const name = file === undefined ? undefined : repository.json(file)?.name;
  if (typeof name !== 'string') return [];
  const folders = packageFolders(repository);
  return apps.filter((app) => uses(app, name, folders, repository));
}

function uses(
  app: string,
  wanted: string,
  folders: ReadonlyMap<string, string>,
  repository: Repository,
): boolean {
  const seen = new Set<string>();
  const open = [app];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const known = repository.json(join(folder, 'package.json'));
    for (const group of groups) {
      const listed = known?.[group];
      if (!isParsed(listed)) continue;
      if (Object.hasOwn(listed, wanted)) return true;
      for (const name of Object.keys(listed)) {
        const next = folders.get(name);
        if (next === undefined || seen.has(next)) continue;
        seen.add(next);
        open.push(next);
      }
    }
  }
  return false;
}

/** Folders of the repository's own packages by name. */
export function packageFolders(repository: Repository): ReadonlyMap<string, string> {
  const known = cache.get(repository);
  if (known) return known;
  const folders = new Map<string, string>();
  for (const file of repository.filesUnder('', ['package.json'])) {
    const name = repository.json(file)?.name;
    if (typeof name === 'string' && !folders.has(name)) folders.set(name, parentOf(file) ?? '');
  }
  cache.set(repository, folders);
  return folders;
}

const cache = new WeakMap<Repository, ReadonlyMap<string, string>>();
