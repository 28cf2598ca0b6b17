/** A program without a package.json: one file that Node or Bun can run as it is. */
import type { Detector } from '../../detector.ts';
import { certain, conventional, evidenced, guessed } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { candidate, manager, versionsOf } from '../draft.ts';
import { listens, loneFile } from './commands/entry-file.ts';
import { nodeVersionOf } from './package-manager/node-version.ts';
import { manifestNames } from './package-manager/package-json.ts';

export const loneScriptDetector: Detector = {
  name: 'lone-script',
  detect(project) {
    const { repository, files, path } = project;
    if ([...manifestNames, 'deno.json', 'deno.jsonc', 'deno.lock'].some((name) => files.has(name))) return [];
    const file = loneFile(project);
    if (file === undefined || !isProgram(project, file)) return [];
    const source = project.at(file);
    const isBun =
      files.has('bun.lock') ||
      files.has('bun.lockb') ||
      /\bBun\.(?:serve|file|env)\b/.test(project.text(file)?.slice(0, 50_000) ?? '');
    const port = repository.source(source)?.listens.find((each) => each.port !== null)?.port ?? null;
    const command = `${isBun ? 'bun run' : 'node'} ${file}`;
    const isServer = listens(project, file);
    return [
      candidate('node', path, isServer ? 0.55 : 0.3, {
        language: evidenced(/ts$/.test(file) ? 'typescript' : 'javascript', certain, source, 'its source'),
        packageManager: isBun ? manager('bun', undefined, source) : undefined,
        versions: versionsOf({ node: nodeVersionOf(project) }),
        startCommand: evidenced(command, isServer ? conventional : guessed, source, 'the file to start with'),
        port: port === null ? undefined : evidenced(port, certain, source, `listens on ${port}`),
      }),
    ];
  },
};

/** Not a script of a page: it listens, or uses what no browser has, and no page lies beside it. */
function isProgram(project: Project, file: string): boolean {
  if (listens(project, file)) return true;
  if (project.files.has('index.html') || !project.isRoot) return false;
  const text = project.text(file)?.slice(0, 50_000) ?? '';
  if (/\bDeno\.|from ["'](?:jsr:|npm:|https:)/.test(text)) return false;
  return (
    /\brequire\(|\bprocess\.|from ["'](?:node:|fs|http|path)|\bBun\./.test(text) ||
    /^[ \t]{0,80}console\.log\(/m.test(text)
  );
}
