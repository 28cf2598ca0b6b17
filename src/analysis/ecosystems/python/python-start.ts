/** How a Python app is started: by a server with its application object, by its framework's tool, or as a script. */

import { certain, conventional, type Evidenced, evidenced, guessed } from '../../evidence.ts';
import { join, nameOf, parentOf, type Repository } from '../../repository.ts';
import { findIn, findInAny, linesOf, within } from '../code.ts';
import type { Django } from './django.ts';
import type { AppObject } from './python-app.ts';
import { entryFile, packageCommand } from './python-entry.ts';
import { type Framework, serverCommand } from './python-frameworks.ts';
import type { PythonProject } from './python-manager.ts';

export interface PythonStart {
  readonly command: Evidenced<string>;
  readonly file: string;
}

interface Known {
  readonly framework: Framework | undefined;
  readonly app: AppObject | undefined;
  readonly django: Django | undefined;
  readonly has: (name: string) => boolean;
}

export function pythonStart(
  repository: Repository,
  { directory, pyproject }: PythonProject,
  files: readonly string[],
  { framework, app, django, has }: Known,
): PythonStart | undefined {
  if (django) return { command: django.start, file: django.start.source.file };
  if (framework && app && framework.kind !== 'script')
    return served(repository, directory, framework, app, has);
  if (framework?.name === 'scrapy') return scrapy(repository, files);
  const entry = entryFile(repository, directory, files);
  const imported = framework && importing(repository, directory, files, framework, entry);
  if (imported) return scripted(repository, directory, framework, imported);
  const isAtTop = entry && entry.certainty > guessed && !within(directory, entry.value).includes('/');
  const packaged = isAtTop ? undefined : packageCommand(repository, directory, pyproject, files);
  if (packaged) return { command: packaged, file: packaged.source.file };
  if (!entry) return undefined;
  const command = runFile(repository, directory, entry.value);
  return { command: evidenced(command, entry.certainty, entry.value, entry.source.note), file: entry.value };
}

function served(
  repository: Repository,
  directory: string,
  framework: Framework,
  found: AppObject,
  has: (name: string) => boolean,
): PythonStart {
  const { file, line, text } = found.hit;
  const inner = findIn(repository, file, new RegExp(String.raw`^(\w+)\s*=\s*${found.object}\.server\b`));
  const app = framework.name === 'dash' && inner ? { ...found, object: inner.match[1] ?? 'server' } : found;
  const { command, server } = serverCommand(framework, app, has);
  const note = text.trim().slice(0, 80);
  const start = (value: string, certainty: number) => ({
    command: evidenced(value, certainty, file, note, line),
    file,
  });
  if (server !== undefined && !(framework.name === 'dash' && !inner)) return start(command, certain);
  // Without a server the file serves itself; one that listens on this machine only would not be reached.
  const runner = runnerOf(repository, directory, file);
  if (runner && findIn(repository, runner, /\bhost\s*=\s*["'](?:0\.0\.0\.0|::)?["']/)) {
    return { ...start(runFile(repository, directory, runner), conventional), file: runner };
  }
  if (framework.name === 'dash')
    return start(`HOST=0.0.0.0 ${runFile(repository, directory, file)}`, conventional);
  return start(command, conventional);
}

/** The file that runs the app when it is run: its own, or one at the top that imports it. */
function runnerOf(repository: Repository, directory: string, file: string): string | undefined {
  const tops = ['main.py', 'run.py', 'app.py', 'server.py', 'wsgi.py'].map((name) => join(directory, name));
  return [file, ...tops].find((path) =>
    findIn(repository, path, /^\s+(?:\w+\.)?(?:run|serve)\(|^(?:\w+)\.run\(/),
  );
}

function importing(
  repository: Repository,
  directory: string,
  files: readonly string[],
  framework: Framework,
  entry: Evidenced<string> | undefined,
): Evidenced<string> | undefined {
  const module = (framework.module ?? framework.packages[0] ?? framework.name)
    .replaceAll('-', '_')
    .split('.')[0];
  const pattern = new RegExp(String.raw`^\s*(?:from|import)\s+${module}\b`);
  if (entry && findIn(repository, entry.value, pattern)) return entry;
  const named = [`${framework.name}_app.py`, 'app.py', 'main.py'].map((name) => join(directory, name));
  const hit = findInAny(
    repository,
    [...named, ...files.filter((path) => !path.includes('/pages/'))],
    pattern,
  );
  return hit && framework.kind === 'script'
    ? evidenced(hit.file, conventional, hit.file, `imports ${module}`)
    : undefined;
}

function scripted(
  repository: Repository,
  directory: string,
  framework: Framework,
  entry: Evidenced<string>,
): PythonStart {
  const file = entry.value;
  const plain = runFile(repository, directory, file);
  const isOpen = framework.name !== 'gradio' || findIn(repository, file, /\bserver_name\s*=/) !== undefined;
  const run = framework.run?.(within(directory, file));
  const command = run ?? (isOpen ? plain : `GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=$PORT ${plain}`);
  return { command: evidenced(command, certain, file, `${framework.name} in ${nameOf(file)}`), file };
}

function scrapy(repository: Repository, files: readonly string[]): PythonStart | undefined {
  const spiders = files.filter((path) => path.includes('/spiders/') || path.includes('spider'));
  const hit = findInAny(repository, spiders, /^\s+name\s*=\s*["']([\w-]+)["']/);
  if (!hit) return undefined;
  return {
    command: evidenced(`scrapy crawl ${hit.match[1]}`, conventional, hit.file, 'a spider', hit.line),
    file: hit.file,
  };
}

/** A file inside a package is run as a module, or its imports would not be found. */
function runFile(repository: Repository, directory: string, file: string): string {
  const path = within(directory, file);
  const folder = parentOf(path) ?? '';
  const top = path.split('/')[0] ?? '';
  const own = new RegExp(
    String.raw`^\s*(?:from\s+\.|from\s+${top.replace(/[^\w]/g, '')}[. ]|import\s+${top.replace(/[^\w]/g, '')}\b)`,
  );
  const isModule =
    folder !== '' &&
    (repository.has(join(directory, `${folder}/__init__.py`)) ||
      linesOf(repository, file).some((line) => own.test(line)));
  if (!isModule || !/^[\w/]+\.py$/.test(path)) return `python ${path}`;
  return `python -m ${path
    .replace(/\.py$/, '')
    .replace(/\/__main__$/, '')
    .replaceAll('/', '.')}`;
}
