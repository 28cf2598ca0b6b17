/** The port an app listens on when nobody sets PORT. */
import { certain, conventional, type Evidenced, evidenced, guessed } from '../../evidence.ts';
import { parentOf } from '../../repository.ts';
import { entryFile } from './commands/entry-file.ts';
import { optionOf, type ScriptCommand } from './commands/script-commands.ts';
import { servingPort } from './commands/script-kinds.ts';
import type { Start } from './commands/start-command.ts';
import { settingAt } from './frameworks/config-value.ts';
import type { NodeFramework } from './frameworks/framework.ts';
import type { NodePackage } from './node-package.ts';
import { manifestNames } from './package-manager/package-json.ts';

export function nodePort(
  package_: NodePackage,
  framework: NodeFramework | undefined,
  start: Start | undefined,
): Evidenced<number> | undefined {
  const { file } = package_.manifest;
  const commands = start?.commands ?? [];
  const named = commands.map(portInCommand).find((port) => port !== undefined);
  if (named !== undefined) return evidenced(named, certain, file, `the start script names ${named}`);
  const written = portInCode(package_, framework) ?? portInConfig(package_, framework);
  if (written) return written;
  const serving = commands.map(servingPort).find((port) => port !== undefined);
  if (serving !== undefined) return evidenced(serving, conventional, file, 'convention of the file server');
  const example = portInExample(package_);
  if (example || framework?.port === undefined) return example;
  const certainty = framework.start === undefined ? guessed : conventional;
  return evidenced(framework.port, certainty, file, `convention of ${framework.name}`);
}

function portInCommand(command: ScriptCommand): number | undefined {
  const given = command.env.get('PORT') ?? optionOf(command, '-p', '--port', '-l', '--listen', '-P');
  return number(given?.replace(/^.*:(?=\d+$)|^\$\{(?:PORT|port):-(\d+)\}$/, '$1'));
}

function number(text: unknown): number | undefined {
  const port = typeof text === 'number' ? text : /^\d{2,5}$/.test(String(text)) ? Number(text) : Number.NaN;
  return port > 0 && port < 65_536 ? port : undefined;
}

/** What the code listens on: the file to start with first, then whatever is nearest to the top. */
function portInCode(
  package_: NodePackage,
  framework: NodeFramework | undefined,
): Evidenced<number> | undefined {
  const { repository } = package_;
  const own = framework?.kind === 'either';
  const files = sourceFiles(package_);
  for (const file of files) {
    for (const { port, variable, line } of repository.source(file)?.listens ?? []) {
      const known = port ?? (variable === null ? undefined : defaultOf(package_, variable, files));
      // A framework with its own server listens elsewhere only if the script starts that file.
      if (known === undefined || (own && !isStarted(package_, file))) continue;
      const note = variable === null ? `listens on ${known}` : `${variable}, else ${known}`;
      return evidenced(known, certain, file, note, line);
    }
  }
  const fallback = own || framework === undefined ? undefined : defaultOf(package_, 'PORT', files);
  return fallback === undefined
    ? undefined
    : evidenced(fallback, conventional, package_.manifest.file, `PORT, else ${fallback}`);
}

function isStarted(package_: NodePackage, file: string): boolean {
  const name = package_.relative(file).replace(/\.[cm]?[jt]s$/, '');
  return package_
    .commands('start')
    .some(({ args }) => args.some((arg) => arg.replace(/^\.\//, '').startsWith(name)));
}

function sourceFiles(package_: NodePackage): readonly string[] {
  const { repository } = package_;
  const prefix = package_.at('');
  const entry = entryFile(package_);
  const started = [...package_.commands('start'), ...package_.commands('dev')]
    .flatMap(({ args }) => args)
    .flatMap((arg) =>
      ['', '.js', '.ts', '.mjs'].map((end) => package_.at(`${arg.replace(/^\.\//, '')}${end}`)),
    );
  // Not those of a package of its own below this one.
  const isOwn = (file: string) => {
    const nearest = repository.upwards(parentOf(file) ?? '', manifestNames);
    return nearest === undefined || nearest === package_.manifest.file;
  };
  const depth = (file: string) => file.split('/').length;
  const all = [...repository.sources.keys()]
    .filter((file) => file.startsWith(prefix) && isOwn(file))
    .sort((one, other) => depth(one) - depth(other) || (one < other ? -1 : 1));
  return [...new Set([...started, ...(entry === undefined ? [] : [package_.at(entry)]), ...all])];
}

/** What the code takes where the variable is not set, wherever it reads it. */
function defaultOf(
  { repository }: NodePackage,
  variable: string,
  files: readonly string[],
): number | undefined {
  return files
    .flatMap((file) => repository.source(file)?.env ?? [])
    .map((read) => (read.key === variable ? number(read.default) : undefined))
    .find((port) => port !== undefined);
}

function portInConfig(
  package_: NodePackage,
  framework: NodeFramework | undefined,
): Evidenced<number> | undefined {
  const { portSetting, configs = [] } = framework ?? {};
  const file = portSetting && package_.first(...(portSetting.files ?? configs));
  if (!portSetting || file === undefined) return undefined;
  const facts = package_.repository.source(file);
  const config = file.endsWith('.toml') ? package_.repository.toml(file) : facts?.config;
  const read = facts?.env.find(({ key }) => key === 'PORT')?.default;
  const port = number(settingAt(config, portSetting.key)) ?? number(read);
  return port === undefined ? undefined : evidenced(port, certain, file, `port ${port}`);
}

/** `.env.example` is for developing, but often all there is. */
function portInExample(package_: NodePackage): Evidenced<number> | undefined {
  for (const name of ['.env.example', '.env.sample', '.env.template', '.env.production', '.env']) {
    const text = package_.text(name)?.slice(0, 20_000) ?? '';
    const port = number(/^PORT=["']?(\d{2,5})\b/m.exec(text)?.[1]);
    if (port !== undefined) return evidenced(port, guessed, package_.at(name), `PORT=${port}`);
  }
  return undefined;
}
