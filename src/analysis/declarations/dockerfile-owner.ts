/** Of which folder a Dockerfile speaks. */
import type { Dockerfile } from '../readers/dockerfile.ts';
import { join, nameOf, parentOf, type Repository } from '../repository.ts';
import { hasManifest } from './places.ts';

export function dockerfileOwner(repository: Repository, path: string, file: Dockerfile): string | undefined {
  const folder = parentOf(path) ?? '';
  if (hasManifest(repository, folder)) return namesake(repository, path, true) ?? folder;
  const named = namesake(repository, path, false);
  if (named !== undefined) return named;
  const copied = file.stages
    .flatMap(({ copies }) => copies)
    .filter((source) => source !== '.' && source !== './');
  const context = contextOf(repository, folder, copied);
  const isTop = folder === '' || folder === repository.root;
  if (context === folder && !isTop) return hasMore(repository, folder) ? folder : undefined;
  if (context !== undefined) return within(repository, context, copied) ?? context;
  for (let at = parentOf(folder); at !== undefined; at = parentOf(at))
    if (hasManifest(repository, at)) return at;
  return hasMore(repository, folder) || isTop ? folder : undefined;
}

/** Than the Dockerfile and the configuration of a server: a proxy or a database beside the app is no app. */
function hasMore(repository: Repository, folder: string): boolean {
  const files = [...(repository.directory(folder)?.files ?? [])];
  return files.some(
    (name) => !/dockerfile|\.(?:conf|cnf|ini|md|sh|sql|ya?ml|template)$|^\.|^Caddyfile/i.test(name),
  );
}

/** `web` of `docker/web/Dockerfile`, `Dockerfile.web` and `web.Dockerfile`, where a project of that name is. */
function namesake(repository: Repository, path: string, onlyByFile: boolean): string | undefined {
  const name = nameOf(path);
  const byFile =
    /^(?:docker|container)file[.-]([\w-]{1,60})$/i.exec(name)?.[1] ??
    /^([\w-]{1,60})\.dockerfile$/i.exec(name)?.[1];
  const wanted = byFile ?? (onlyByFile ? undefined : nameOf(parentOf(path) ?? ''));
  if (wanted === undefined || wanted === '') return undefined;
  const tops = new Set([repository.root, '']);
  const places = [...tops].flatMap((top) =>
    ['', 'apps', 'packages', 'services'].map((each) => place(top, each)),
  );
  for (const parent of places) {
    const folder = place(parent, wanted);
    if (folder !== (parentOf(path) ?? '') && hasManifest(repository, folder)) return folder;
  }
  return undefined;
}

function place(folder: string, name: string): string {
  return name === '' ? folder : join(folder, name);
}

function contextOf(repository: Repository, folder: string, copied: readonly string[]): string | undefined {
  let best: { folder: string; hits: number } | undefined;
  for (let at: string | undefined = folder; at !== undefined; at = parentOf(at)) {
    const from = at;
    const hits = copied.slice(0, 50).filter((source) => isThere(repository, from, source)).length;
    if (hits > (best?.hits ?? 0)) best = { folder: from, hits };
  }
  return best?.folder;
}

/** Where everything is copied from one project below, that project is meant. */
function within(repository: Repository, context: string, copied: readonly string[]): string | undefined {
  if (hasManifest(repository, context)) return undefined;
  const tops = copied.filter((source) => isThere(repository, context, source)).map(firstFolder);
  const projects = new Set(tops.filter((top) => hasManifest(repository, join(context, top))));
  const [only] = projects;
  return projects.size === 1 && only !== undefined ? join(context, only) : undefined;
}

function firstFolder(source: string): string {
  return source.replace(/^\.?\/+/, '').split('/')[0] ?? '';
}

function isThere(repository: Repository, folder: string, source: string): boolean {
  const plain = source
    .replace(/^\.?\/+/, '')
    .replace(/\/+$/, '')
    .replace(/\*.*$/, '');
  if (plain === '' || plain.includes('..') || plain.length > 300) return false;
  const path = join(folder, plain);
  if (repository.has(path) || repository.directory(path)) return true;
  if (plain === source.replace(/\/+$/, '').replace(/^\.?\/+/, '')) return false;
  // `package*.json`: anything that begins so.
  const parent = parentOf(path) ?? '';
  const start = nameOf(path);
  return [...(repository.directory(parent)?.files ?? [])].some((name) => name.startsWith(start));
}
