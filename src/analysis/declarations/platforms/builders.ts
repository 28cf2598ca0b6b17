/** Files for builders: nixpacks.toml, railpack.json, project.toml of buildpacks, and zbpack.json. */
import { asEntries, asMany, asObjects, asText, objectAt, valueAt } from '../../readers/shape.ts';
import { isParsed } from '../../repository.ts';
import { commandOf } from '../commands.ts';
import { type DeclarationFile, type PlatformReader, precedence } from '../declaration-file.ts';
import { toolOfVariable, versionsIn } from '../platform-variables.ts';

const files: readonly (readonly [string, PlatformReader['read']])[] = [
  ['nixpacks.toml', readNixpacks],
  ['nixpacks.json', readNixpacks],
  ['railpack.json', readRailpack],
  ['project.toml', readProject],
  ['zbpack.json', readZbpack],
];

export const builders: readonly PlatformReader[] = files.map(([name, read]) => ({
  names: [name],
  precedence: precedence.builder,
  read,
}));

/** `...` stands for what the builder would do by itself, so that the whole is not known. */
function linesOf(value: unknown): string | undefined {
  const lines = asMany(value).flatMap((line) => commandOf(isParsed(line) ? line.cmd : line) ?? []);
  return lines.length === 0 || lines.includes('...') ? undefined : lines.join(' && ');
}

/** Steps of the project's own, beside those that every build has. */
function extraSteps(steps: unknown, usual: readonly string[], key: string): readonly string[] {
  const own = asEntries(steps).filter(([name]) => !usual.includes(name));
  return own.flatMap(([, step]) => linesOf(valueAt(step, key)) ?? []);
}

function readNixpacks(file: DeclarationFile): void {
  const { config } = file;
  const phases = objectAt(config, 'phases');
  const build = linesOf(valueAt(phases, 'build', 'cmds') ?? valueAt(phases, 'build', 'cmd'));
  const lines = [build, ...extraSteps(phases, ['setup', 'install', 'build'], 'cmds')].filter(Boolean);
  const packages = asMany(valueAt(phases, 'setup', 'nixPkgs')).flatMap((each) => packageVersion(each));
  file.declare({
    install: linesOf(valueAt(phases, 'install', 'cmds')),
    build: lines.length === 0 ? undefined : lines.join(' && '),
    start: valueAt(config, 'start', 'cmd'),
    versions: { ...Object.fromEntries(packages), ...versionsIn(config.variables) },
  });
  plainVariables(file, config.variables);
}

/** `nodejs_22`, `nodejs-18_x`, `python311`, `go_1_22`: names of Nix packages have the version in them. */
function packageVersion(value: unknown): readonly (readonly [string, string])[] {
  const found = /^(nodejs|python|go|ruby|jdk|php|elixir|bun|deno)[-_]?(\d[\d_]*)/.exec(asText(value) ?? '');
  const [, name = '', digits = ''] = found ?? [];
  const tool = toolOfVariable(`${name.toUpperCase()}_VERSION`);
  if (digits === '' || tool === undefined) return [];
  const plain = digits.replace(/_+$/, '').replace(/_/g, '.');
  const isGlued = /^(?:python|php)$/.test(name) && !plain.includes('.') && plain.length > 1;
  return [[tool, isGlued ? `${plain[0]}.${plain.slice(1)}` : plain]];
}

function readRailpack(file: DeclarationFile): void {
  const { config } = file;
  const steps = objectAt(config, 'steps');
  const build = linesOf(valueAt(steps, 'build', 'commands'));
  const lines = [build, ...extraSteps(steps, ['install', 'build', 'packages'], 'commands')].filter(Boolean);
  const isKnown = lines.length > 0 && (build !== undefined || steps.build === undefined);
  file.declare({
    install: linesOf(valueAt(steps, 'install', 'commands')),
    build: isKnown ? lines.join(' && ') : undefined,
    start: valueAt(config, 'deploy', 'startCommand'),
    versions: Object.fromEntries(
      asEntries(config.packages).flatMap(([name, version]) => {
        const [tool, line] = [toolOfVariable(`${name.toUpperCase()}_VERSION`), asText(version)];
        return tool && line && /^\d/.test(line) ? [[tool, line]] : [];
      }),
    ),
  });
  plainVariables(file, valueAt(config, 'deploy', 'variables'));
}

/** Cloud Native Buildpacks are steered by variables, of which a few say what we want to know. */
function readProject(file: DeclarationFile): void {
  const { config } = file;
  const builds = [objectAt(config, 'build'), objectAt(config, 'io', 'buildpacks', 'build')];
  const settings: Record<string, unknown> = Object.create(null);
  for (const { env } of builds) {
    for (const { name, value } of [...asObjects(env), ...asObjects(valueAt(env, 'build'))])
      if (typeof name === 'string') settings[name] = value;
  }
  const script = asText(settings.BP_NODE_RUN_SCRIPTS)?.split(',')[0]?.trim();
  file.declare({
    build: script && /^[\w:.-]{1,60}$/.test(script) ? `npm run ${script}` : undefined,
    ...(settings.BP_WEB_SERVER === undefined
      ? {}
      : {
          output: settings.BP_WEB_SERVER_ROOT ?? 'public',
          isSinglePage: String(settings.BP_WEB_SERVER_ENABLE_PUSH_STATE) === 'true',
        }),
    versions: versionsIn(settings),
  });
}

/** A Dockerfile by its path, or by the name in `web.Dockerfile` and `Dockerfile.web`. */
function readZbpack(file: DeclarationFile): void {
  const { config } = file;
  const name = asText(valueAt(config, 'dockerfile', 'name'));
  const named = name === undefined ? [] : [`${name}.Dockerfile`, `Dockerfile.${name}`];
  const paths = [valueAt(config, 'dockerfile', 'path'), ...named];
  file.declare({
    dockerfile: paths.map((path) => file.file(path)).find((path) => path !== undefined),
    install: config.install_command,
    build: config.build_command,
    start: config.start_command,
    output: config.output_dir,
  });
}

/** Without those that speak to the builder. */
function plainVariables(file: DeclarationFile, record: unknown): void {
  file.variables(
    record,
    {},
    (key) => toolOfVariable(key) === undefined && !/^(?:NIXPACKS|RAILPACK|BP|BPL)_/.test(key),
  );
}
