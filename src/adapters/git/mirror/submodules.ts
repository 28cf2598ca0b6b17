/**
 * Submodules, read as data: git itself never sees `.gitmodules` as settings. An address that could run something, or
 * lead out of the transports we allow, is refused with a warning and leaves an empty folder, as in a plain clone.
 */
import { Fault } from '../../../fault.ts';
import { type GitUrl, isSameOrigin, parseGitUrl, resolveGitUrl } from '../git-url.ts';
import type { TreeEntry } from '../objects/tree-listing.ts';
import { GitFailure, runGit } from '../run-git.ts';
import type { Source } from '../transport/transport.ts';

export interface Submodule extends Source {
  readonly path: string;
  readonly sha: string;
}

export interface FoundSubmodules {
  readonly submodules: readonly Submodule[];
  readonly warnings: readonly string[];
}

const largestFile = 256 * 1024;

export async function findSubmodules(
  dir: string,
  entries: readonly TreeEntry[],
  parent: Source,
  { allowHttp, signal }: { readonly allowHttp: boolean; readonly signal: AbortSignal },
): Promise<FoundSubmodules> {
  const links = entries.filter(({ type }) => type === 'submodule');
  if (links.length === 0) return { submodules: [], warnings: [] };
  const urls = await declaredUrls(dir, entries, signal);
  const submodules: Submodule[] = [];
  const warnings: string[] = [];
  for (const { path, oid: sha, rawPath } of links) {
    const text = rawPath ? undefined : urls.get(path);
    if (text === undefined) {
      warnings.push(`The submodule ${shown(path)} has no address in .gitmodules; its folder stays empty.`);
      continue;
    }
    try {
      const url = reachable(parent, resolveGitUrl(parent.url, text, { allowHttp }));
      const credentials = isSameOrigin(parent.url, url) ? parent.credentials : undefined;
      submodules.push({ path, sha, url, credentials });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      warnings.push(`The submodule ${shown(path)} is left out: ${error.message} Its folder stays empty.`);
    }
  }
  return { submodules, warnings };
}

/** `git@host:path` beside a token for https on the same host: there is no key, but the token opens it. */
function reachable(parent: Source, url: GitUrl): GitUrl {
  const isSsh = url.scheme === 'ssh' && url.port === 22 && parent.url.scheme !== 'ssh';
  if (!isSsh || url.host !== parent.url.host) return url;
  const base = parent.url.text.slice(0, parent.url.text.length - parent.url.path.length);
  return parseGitUrl(`${base}/${url.path.replace(/^\/+/, '')}`, { allowHttp: parent.url.scheme === 'http' });
}

/** Paths to addresses. Git's own parser reads the blob; it follows no include out of one. */
async function declaredUrls(
  dir: string,
  entries: readonly TreeEntry[],
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const file = entries.find(({ path, type }) => path === '.gitmodules' && type === 'file');
  const urls = new Map<string, string>();
  if (!file || file.size > largestFile) return urls;
  const paths = new Map<string, string>();
  for (const [name, key, value] of await settingsIn(dir, file.oid, signal)) {
    if (key === 'path') paths.set(name, value);
    if (key === 'url') urls.set(name, value);
  }
  return new Map(
    [...paths].flatMap(([name, path]) => {
      const url = urls.get(name);
      return url === undefined ? [] : [[path.replace(/\/+$/, ''), url] as const];
    }),
  );
}

async function settingsIn(
  dir: string,
  oid: string,
  signal: AbortSignal,
): Promise<[string, string, string][]> {
  let output: Buffer;
  try {
    // Where no settings come by the environment, only the blob's own are listed.
    const args = ['config', '--no-includes', '--blob', oid, '-z', '--list'];
    output = await runGit({ args, dir, signal });
  } catch (error) {
    if (error instanceof GitFailure) return [];
    throw error;
  }
  return output
    .toString('utf8')
    .split('\0')
    .flatMap((record) => {
      const [, name, key, value] = /^submodule\.(.*)\.(path|url)\n(.*)$/s.exec(record) ?? [];
      return name === undefined || key === undefined || value === undefined ? [] : [[name, key, value]];
    });
}

function shown(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}
