/** Deno: deno.json with its tasks, or sources that can only be meant for it. */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced, guessed } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { asEntries, objectAt } from '../../readers/shape.ts';
import { isParsed, type Parsed } from '../../repository.ts';
import { candidate, manager, versionsOf } from '../draft.ts';
import { commandsOf } from './commands/script-commands.ts';
import { isDeveloping } from './commands/script-kinds.ts';
import { runtimeVersion } from './package-manager/node-version.ts';

const entries = 'main server mod index app start src/main src/server src/index src/app'.split(' ');
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
  detect(project) {
    const config = project.first('deno.json', 'deno.jsonc');
    const settings = config === undefined ? undefined : project.repository.json(config);
    if (project.files.has('package.json') && !(config && isMeant(project, settings))) return [];
    const entry = project.first(...entries.flatMap((name) => endings.map((ending) => `${name}.${ending}`)));
    const file = config ?? (entry !== undefined && isDeno(project, entry) ? entry : undefined);
    return file === undefined ? [] : [describe(project, settings, file, entry)];
  },
};

/** Both files are there: Deno is meant when its lock file is and no other. */
function isMeant({ files }: Project, settings: Parsed | undefined): boolean {
  const others = ['package-lock.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'bun.lockb'];
  return !others.some((name) => files.has(name)) && (files.has('deno.lock') || isParsed(settings?.tasks));
}

/** It imports by URL or from jsr, or uses `Deno` itself. */
function isDeno({ repository }: Project, file: string): boolean {
  const imports = repository.source(file)?.imports ?? [];
  if (imports.some(({ module }) => /^(?:jsr:|npm:|https:\/\/(?:deno\.land|esm\.sh|jsr\.io))/.test(module)))
    return true;
  const text = repository.text(file)?.slice(0, 100_000) ?? '';
  return /\bDeno\.(?:serve|listen|env|args|readTextFile)/.test(text);
}

function describe(
  project: Project,
  settings: Parsed | undefined,
  file: string,
  entry: string | undefined,
): Candidate {
  const { repository, path } = project;
  const facts = entry === undefined ? undefined : repository.source(entry);
  const names = [
    ...Object.entries({ ...importMap(project, settings), ...objectAt(settings, 'imports') }).flat(),
    ...(facts?.imports ?? []).map(({ module }) => module),
  ].filter((each): each is string => typeof each === 'string' && each.length < 300);
  const framework = frameworks.find(([pattern]) => names.some((name) => pattern.test(name)))?.[1];
  const tasks = tasksOf(settings?.tasks);
  const program = entry && project.relative(entry);
  const start = startOf(tasks, framework, program, file);
  const isStatic = framework === 'lume';
  const isApp = start !== undefined || isStatic;
  const port = facts?.listens.find((each) => each.port !== null)?.port;
  const lock = project.first('deno.lock');
  const score = isApp ? (framework ? 0.9 : start && start.certainty < 1 ? 0.7 : 0.8) : 0.2;
  const isTyped = entry === undefined || /tsx?$/.test(entry);
  const draft = {
    name: typeof settings?.name === 'string' ? evidenced(settings.name, certain, file, 'name') : undefined,
    language: evidenced(isTyped ? 'typescript' : 'javascript', certain, entry ?? file, 'Deno'),
    framework: framework === undefined ? undefined : evidenced(framework, certain, file, `uses ${framework}`),
    packageManager: manager('deno', lock, file),
    versions: versionsOf({
      deno: runtimeVersion(project, 'deno') ?? (lock ? byLock(project, lock) : undefined),
    }),
    installCommand: evidenced(
      file === entry ? `deno cache ${program}` : 'deno install',
      conventional,
      file,
      'Deno',
    ),
    buildCommand: tasks.has('build')
      ? evidenced('deno task build', certain, file, `build: ${tasks.get('build')}`)
      : undefined,
  };
  if (isStatic) {
    const output = { directory: '_site', isSinglePage: false };
    const staticOutput = evidenced(output, conventional, file, 'Lume builds into it');
    return candidate('node', path, score, { ...draft, staticOutput });
  }
  const listens =
    port == null
      ? evidenced(8000, conventional, file, 'convention of Deno')
      : evidenced(port, certain, file, `listens on ${port}`);
  return candidate(
    'node',
    path,
    score,
    { ...draft, startCommand: start, port: listens },
    isApp ? 'app' : 'library',
  );
}

/** Before Deno had imports in its own file they stood in one that it names, mostly so. */
function importMap(project: Project, settings: Parsed | undefined): Parsed {
  const named = settings?.importMap ?? 'import_map.json';
  const file = typeof named === 'string' ? project.first(named.replace(/^\.\//, '')) : undefined;
  return file === undefined ? {} : objectAt(project.repository.json(file), 'imports');
}

function tasksOf(value: unknown): ReadonlyMap<string, string> {
  return new Map(
    asEntries(value).flatMap(([name, task]): [string, string][] => {
      const text = isParsed(task) ? task.command : task;
      return typeof text === 'string' && text.length < 4_000 ? [[name, text]] : [];
    }),
  );
}

function startOf(
  tasks: ReadonlyMap<string, string>,
  framework: string | undefined,
  program: string | undefined,
  file: string,
): Evidenced<string> | undefined {
  for (const name of ['start', 'serve', 'prod', 'preview', 'run']) {
    const text = tasks.get(name);
    if (text === undefined || commandsOf(text, tasks).some(isDeveloping)) continue;
    return evidenced(`deno task ${name}`, certain, file, `${name}: ${text.slice(0, 120)}`);
  }
  if (program === undefined) return undefined;
  const certainty = framework === undefined ? guessed : conventional;
  return evidenced(`deno run -A ${program}`, certainty, file, 'the file to start with');
}

function byLock({ repository }: Project, lock: string): Evidenced<string> | undefined {
  const head = repository.bytes(lock)?.subarray(0, 200).toString('utf8') ?? '';
  const version = /"version":\s*"(\d)"/.exec(head)?.[1];
  if (version === undefined) return undefined;
  return evidenced(Number(version) >= 4 ? '2' : '1', conventional, lock, `lock file version ${version}`);
}
