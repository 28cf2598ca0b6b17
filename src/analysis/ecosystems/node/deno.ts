/** Deno: deno.json with its tasks, or sources that can only be meant for it. */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced, guessed } from '../../evidence.ts';
import { type Directory, isParsed, join, type Repository } from '../../repository.ts';
import { candidate, manager, versionsOf } from '../draft.ts';
import { runtimeVersion } from './node-version.ts';
import { commandsOf } from './script-commands.ts';
import { isDeveloping } from './script-kinds.ts';

const entries = [
  'main',
  'server',
  'mod',
  'index',
  'app',
  'start',
  'src/main',
  'src/server',
  'src/index',
  'src/app',
];
const endings = ['ts', 'tsx', 'js', 'mjs', 'mts'];

/** Framework by what is imported. */
const frameworks: readonly (readonly [RegExp, string])[] = [
  [/(?:^|\/)\$?fresh(?:@|\/|$)|@fresh\/core/, 'fresh'],
  [/(?:^|\/)lume(?:@|\/|$)/, 'lume'],
  [/(?:^|\/)aleph(?:@|\/|$)/, 'aleph'],
  [/(?:^|\/|:)@?hono(?:\/hono)?(?:@|\/|$)/, 'hono'],
  [/(?:^|\/|@)oak(?:\/oak)?(?:@|\/|$)/, 'oak'],
  [/npm:express(?:@|\/|$)/, 'express'],
  [/npm:fastify(?:@|\/|$)/, 'fastify'],
  [/npm:koa(?:@|\/|$)/, 'koa'],
];

export const denoDetector: Detector = {
  name: 'deno',
  detect(directory, repository) {
    const config = repository.firstOf(directory.path, ['deno.json', 'deno.jsonc']);
    const hasPackage = directory.files.has('package.json');
    const entry = entryOf(directory, repository);
    if (hasPackage && !(config !== undefined && isMeant(config, directory, repository))) return [];
    if (config === undefined && (entry === undefined || !isDeno(repository, join(directory.path, entry))))
      return [];
    return [denoCandidate(directory, repository, config, entry)];
  },
};

/** Both files are there: Deno is meant when its lock file is and no other. */
function isMeant(config: string, { files }: Directory, repository: Repository): boolean {
  const hasOther = ['package-lock.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'bun.lockb'].some(
    (name) => files.has(name),
  );
  return !hasOther && (files.has('deno.lock') || isParsed(repository.json(config)?.tasks));
}

function entryOf({ path }: Directory, repository: Repository): string | undefined {
  const all = entries.flatMap((name) => endings.map((ending) => `${name}.${ending}`));
  return all.find((name) => repository.has(join(path, name)));
}

/** It imports by URL or from jsr, or uses `Deno` itself. */
function isDeno(repository: Repository, file: string): boolean {
  const imports = repository.source(file)?.imports ?? [];
  if (imports.some(({ module }) => /^(?:jsr:|npm:|https:\/\/(?:deno\.land|esm\.sh|jsr\.io))/.test(module)))
    return true;
  return /\bDeno\.(?:serve|listen|env|args|readTextFile)/.test(
    repository.text(file)?.slice(0, 100_000) ?? '',
  );
}

function denoCandidate(
  { path, files }: Directory,
  repository: Repository,
  config: string | undefined,
  entry: string | undefined,
): Candidate {
  const settings = config === undefined ? undefined : repository.json(config);
  const file = config ?? join(path, entry ?? '');
  const framework = frameworkOf(repository, path, settings, entry);
  const tasks = tasksOf(settings?.tasks);
  const lock = files.has('deno.lock') ? join(path, 'deno.lock') : undefined;
  const start = startOf(tasks, framework, entry, file);
  const hasBuild = tasks.has('build');
  const isStatic = framework === 'lume';
  const isApp = start !== undefined || isStatic;
  const facts = entry === undefined ? undefined : repository.source(join(path, entry));
  const port = facts?.listens.find((each) => each.port !== null)?.port;
  return candidate(
    'node',
    path,
    isApp ? (framework ? 0.9 : start && start.certainty < 1 ? 0.7 : 0.8) : 0.2,
    {
      name: typeof settings?.name === 'string' ? evidenced(settings.name, certain, file, 'name') : undefined,
      language: evidenced(
        entry === undefined || /tsx?$/.test(entry) ? 'typescript' : 'javascript',
        certain,
        entry === undefined ? file : join(path, entry),
        'Deno',
      ),
      framework:
        framework === undefined ? undefined : evidenced(framework, certain, file, `uses ${framework}`),
      packageManager: manager('deno', lock, file),
      versions: versionsOf({ deno: runtimeVersion(repository, path, 'deno') ?? byLock(repository, lock) }),
      installCommand: evidenced(
        entry !== undefined && config === undefined ? `deno cache ${entry}` : 'deno install',
        conventional,
        file,
        'Deno',
      ),
      buildCommand: hasBuild
        ? evidenced('deno task build', certain, file, `build: ${tasks.get('build')}`)
        : undefined,
      startCommand: isStatic ? undefined : start,
      staticOutput: isStatic
        ? evidenced({ directory: '_site', isSinglePage: false }, conventional, file, 'Lume builds into it')
        : undefined,
      port: isStatic
        ? undefined
        : evidenced(
            port ?? 8000,
            port === undefined ? conventional : certain,
            file,
            port === undefined ? 'custom of Deno' : `listens on ${port}`,
          ),
    },
    isApp ? 'app' : 'library',
  );
}

function tasksOf(value: unknown): ReadonlyMap<string, string> {
  if (!isParsed(value)) return new Map();
  return new Map(
    Object.entries(value).flatMap(([name, task]): [string, string][] => {
      const text = isParsed(task) ? task.command : task;
      return typeof text === 'string' && text.length < 4_000 ? [[name, text]] : [];
    }),
  );
}

function startOf(
  tasks: ReadonlyMap<string, string>,
  framework: string | undefined,
  entry: string | undefined,
  file: string,
): Evidenced<string> | undefined {
  for (const name of ['start', 'serve', 'prod', 'preview', 'run']) {
    const text = tasks.get(name);
    if (text === undefined || commandsOf(text, tasks).some(isDeveloping)) continue;
    return evidenced(`deno task ${name}`, certain, file, `${name}: ${text.slice(0, 120)}`);
  }
  if (entry === undefined) return undefined;
  return evidenced(
    `deno run -A ${entry}`,
    framework === undefined ? guessed : conventional,
    file,
    'the file to start with',
  );
}

function frameworkOf(
  repository: Repository,
  path: string,
  settings: Readonly<Record<string, unknown>> | undefined,
  entry: string | undefined,
): string | undefined {
  const map = isParsed(settings?.imports) ? Object.entries(settings.imports).flat() : [];
  const imported =
    entry === undefined
      ? []
      : (repository.source(join(path, entry))?.imports ?? []).map(({ module }) => module);
  const names = [...map, ...imported].filter(
    (each): each is string => typeof each === 'string' && each.length < 300,
  );
  return frameworks.find(([pattern]) => names.some((name) => pattern.test(name)))?.[1];
}

function byLock(repository: Repository, lock: string | undefined): Evidenced<string> | undefined {
  const head = lock === undefined ? '' : (repository.bytes(lock)?.subarray(0, 200).toString('utf8') ?? '');
  const version = /"version":\s*"(\d)"/.exec(head)?.[1];
  if (lock === undefined || version === undefined) return undefined;
  return evidenced(Number(version) >= 4 ? '2' : '1', conventional, lock, `lock file version ${version}`);
}
