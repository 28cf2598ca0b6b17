/** The port an app listens on when nobody sets PORT. */

import { certain, conventional, type Evidenced, evidenced, guessed } from '../../evidence.ts';
import { isParsed, join } from '../../repository.ts';
import { configFile, valueAt } from './config-value.ts';
import { entryFile } from './entry-file.ts';
import type { Framework } from './frameworks.ts';
import { type PackageContext, scriptCommands } from './package-context.ts';
import { optionOf, type ScriptCommand } from './script-commands.ts';
import { servingPort } from './script-kinds.ts';
import type { Start } from './start-command.ts';

export function portOf(
  context: PackageContext,
  framework: Framework | undefined,
  start: Start | undefined,
): Evidenced<number> | undefined {
  const { manifest } = context;
  const commands = start?.commands ?? [];
  for (const command of commands) {
    const port = portInCommand(command);
    if (port !== undefined) return evidenced(port, certain, manifest.file, `the start script names ${port}`);
  }
  const inCode = portInCode(context, framework);
  if (inCode) return inCode;
  const inConfig = portInConfig(context, framework);
  if (inConfig) return inConfig;
  const serving = commands.map(servingPort).find((port) => port !== undefined);
  if (serving !== undefined)
    return evidenced(serving, conventional, manifest.file, 'custom of the file server');
  const example = portInExample(context);
  if (example) return example;
  const isWhole = framework !== undefined && (framework.start !== undefined || framework.node !== undefined);
  return framework?.port === undefined
    ? undefined
    : evidenced(
        framework.port,
        isWhole ? conventional : guessed,
        manifest.file,
        `custom of ${framework.name}`,
      );
}

function portInCommand(command: ScriptCommand): number | undefined {
  const given = command.env.get('PORT') ?? optionOf(command, '-p', '--port', '-l', '--listen', '-P');
  const text = given?.replace(/^.*:(?=\d+$)|^\$\{(?:PORT|port):-(\d+)\}$/, '$1');
  return number(text);
}

function number(text: unknown): number | undefined {
  const port = typeof text === 'number' ? text : /^\d{2,5}$/.test(String(text)) ? Number(text) : Number.NaN;
  return port > 0 && port < 65_536 ? port : undefined;
}

/** What the code listens on: the file to start with first, then whatever is nearest to the top. */
function portInCode(
  context: PackageContext,
  framework: Framework | undefined,
): Evidenced<number> | undefined {
  const { repository, directory } = context;
  const own = framework?.kind === 'either';
  const files = sourceFiles(context);
  for (const file of files) {
    for (const { port, variable, line } of repository.source(file)?.listens ?? []) {
      const known = port ?? (variable === null ? undefined : defaultOf(context, variable, files));
      // A framework with its own server listens elsewhere only if the script starts that file.
      if (known === undefined || (own && !isStarted(context, file))) continue;
      return evidenced(
        known,
        certain,
        file,
        variable === null ? `listens on ${known}` : `${variable}, else ${known}`,
        line,
      );
    }
  }
  const fallback = own || framework === undefined ? undefined : defaultOf(context, 'PORT', files);
  return fallback === undefined
    ? undefined
    : evidenced(fallback, conventional, join(directory.path, 'package.json'), `PORT, else ${fallback}`);
}

function isStarted(context: PackageContext, file: string): boolean {
  const name = file
    .slice(context.directory.path.length)
    .replace(/^\//, '')
    .replace(/\.[cm]?[jt]s$/, '');
  return scriptCommands(context, 'start').some(({ args }) =>
    args.some((arg) => arg.replace(/^\.\//, '').startsWith(name)),
  );
}

function sourceFiles(context: PackageContext): readonly string[] {
  const { repository, directory } = context;
  const entry = entryFile(context);
  const first = entry === undefined ? [] : [join(directory.path, entry)];
  const prefix = directory.path === '' ? '' : `${directory.path}/`;
  const started = [...scriptCommands(context, 'start'), ...scriptCommands(context, 'dev')]
    .flatMap(({ args }) => args)
    .flatMap((arg) =>
      ['', '.js', '.ts', '.mjs'].map((ending) => `${prefix}${arg.replace(/^\.\//, '')}${ending}`),
    );
  const all = [...repository.sources.keys()].filter(
    (file) => file.startsWith(prefix) && !isOfOther(context, file),
  );
  all.sort((one, other) => one.split('/').length - other.split('/').length || (one < other ? -1 : 1));
  return [...new Set([...started, ...first, ...all])];
}

/** In a package of its own below this one. */
function isOfOther({ repository, directory }: PackageContext, file: string): boolean {
  const folder = file.slice(0, Math.max(0, file.lastIndexOf('/')));
  const nearest = repository.upwards(folder, ['package.json']);
  return nearest !== undefined && nearest !== join(directory.path, 'package.json');
}

/** What the code takes where the variable is not set, wherever it reads it. */
function defaultOf(
  { repository }: PackageContext,
  variable: string,
  files: readonly string[],
): number | undefined {
  for (const file of files) {
    for (const read of repository.source(file)?.env ?? []) {
      const port = read.key === variable ? number(read.default) : undefined;
      if (port !== undefined) return port;
    }
  }
  return undefined;
}

function portInConfig(
  { repository, directory, manifest }: PackageContext,
  framework: Framework | undefined,
): Evidenced<number> | undefined {
  const keys: Readonly<Record<string, readonly string[]>> = {
    astro: ['server.port'],
    keystone: ['server.port'],
    strapi: ['port'],
    medusa: ['projectConfig.http.port'],
    redwood: ['web.port'],
  };
  const names: Readonly<Record<string, readonly string[]>> = {
    strapi: ['config/server.ts', 'config/server.js'],
    keystone: ['keystone.ts', 'keystone.js'],
  };
  if (!framework || !Object.hasOwn(keys, framework.name)) return undefined;
  const file = configFile(repository, directory.path, names[framework.name] ?? framework.configs ?? []);
  if (framework.name === 'redwood') {
    const web = repository.toml(join(directory.path, 'redwood.toml'))?.web;
    const port = isParsed(web) ? number(web.port) : undefined;
    return port === undefined
      ? undefined
      : evidenced(port, certain, join(directory.path, 'redwood.toml'), `web.port ${port}`);
  }
  const facts = file === undefined ? undefined : repository.source(file);
  const written = (keys[framework.name] ?? [])
    .map((key) => number(valueAt(facts?.config, key)))
    .find((port) => port !== undefined);
  const read = facts?.env.find(({ key }) => key === 'PORT')?.default;
  const port = written ?? number(read);
  return port === undefined ? undefined : evidenced(port, certain, file ?? manifest.file, `port ${port}`);
}

/** `.env.example` is for developing, but often all there is. */
function portInExample({ repository, directory }: PackageContext): Evidenced<number> | undefined {
  for (const name of ['.env.example', '.env.sample', '.env.template', '.env.production', '.env']) {
    const file = join(directory.path, name);
    const text = repository.text(file)?.slice(0, 20_000);
    const port = text === undefined ? undefined : number(/^PORT=["']?(\d{2,5})\b/m.exec(text)?.[1]);
    if (port !== undefined) return evidenced(port, guessed, file, `PORT=${port}`);
  }
  return undefined;
}
