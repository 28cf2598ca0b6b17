/** A program without a package.json: one file that Node or Bun can run as it is. */
import type { Detector } from '../../detector.ts';
import { certain, conventional, evidenced, guessed } from '../../evidence.ts';
import { type Directory, join, type Repository } from '../../repository.ts';
import { candidate, manager, versionsOf } from '../draft.ts';
import { nodeVersionOf } from './node-version.ts';

const names = ['server', 'index', 'app', 'main', 'start', 'bot'];
const endings = ['js', 'mjs', 'cjs', 'ts', 'mts'];

export const loneScriptDetector: Detector = {
  name: 'lone-script',
  detect(directory, repository) {
    if (['package.json', 'deno.json', 'deno.jsonc', 'deno.lock'].some((name) => directory.files.has(name)))
      return [];
    const file = scriptIn(directory);
    const facts = file === undefined ? undefined : repository.source(join(directory.path, file));
    if (file === undefined || !isProgram(directory, repository, file)) return [];
    const path = join(directory.path, file);
    const isBun =
      directory.files.has('bun.lock') || directory.files.has('bun.lockb') || usesBun(repository, path);
    const listen = facts?.listens[0];
    const port = facts?.listens.find((each) => each.port !== null)?.port ?? null;
    const command = isBun ? `bun run ${file}` : `node ${file}`;
    return [
      candidate('node', directory.path, listen ? 0.55 : 0.3, {
        language: evidenced(/ts$/.test(file) ? 'typescript' : 'javascript', certain, path, 'its source'),
        packageManager: isBun ? manager('bun', undefined, path) : undefined,
        versions: versionsOf({ node: nodeVersionOf(repository, directory.path) }),
        startCommand: evidenced(command, listen ? conventional : guessed, path, 'the file to start with'),
        port: port === null ? undefined : evidenced(port, certain, path, `listens on ${port}`),
      }),
    ];
  },
};

function scriptIn({ files }: Directory): string | undefined {
  const named = names
    .flatMap((name) => endings.map((ending) => `${name}.${ending}`))
    .find((name) => files.has(name));
  if (named !== undefined) return named;
  const scripts = [...files].filter(
    (name) => /\.[cm]?[jt]s$/.test(name) && !/config|\.d\.ts$|^\./.test(name),
  );
  return scripts.length === 1 ? scripts[0] : undefined;
}

/** Not a script of a page: it listens, or uses what no browser has, and no page lies beside it. */
function isProgram({ path, files }: Directory, repository: Repository, file: string): boolean {
  if ((repository.source(join(path, file))?.listens.length ?? 0) > 0) return true;
  if (files.has('index.html')) return false;
  const text = repository.text(join(path, file))?.slice(0, 50_000) ?? '';
  if (/\bDeno\.|from ["'](?:jsr:|npm:|https:)/.test(text)) return false;
  return (
    path === repository.root &&
    (/\brequire\(|\bprocess\.|from ["'](?:node:|fs|http|path)|\bBun\./.test(text) ||
      /^\s*console\.log\(/m.test(text))
  );
}

function usesBun(repository: Repository, path: string): boolean {
  return /\bBun\.(?:serve|file|env)\b/.test(repository.text(path)?.slice(0, 50_000) ?? '');
}
