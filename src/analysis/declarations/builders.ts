/** Files for builders: nixpacks.toml, railpack.json, project.toml of buildpacks, and zbpack.json. */
import type { DeclarationReader } from '../detector.ts';
import { asEntries, asMany, asObject, asObjects, asText } from '../readers/shape.ts';
import { isParsed, type Parsed, type Repository } from '../repository.ts';
import { commandOf } from './commands.ts';
import { declare } from './declare.ts';
import { filesNamed, folderOfFile } from './places.ts';
import { toolOf, variablesIn, versionsIn } from './platform-variables.ts';
import { type Heard, nothingHeard, strengths } from './strengths.ts';

type Read = (repository: Repository, file: string, config: Parsed, heard: Heard) => void;

const files: readonly (readonly [string, Read])[] = [
  ['nixpacks.toml', readNixpacks],
  ['nixpacks.json', readNixpacks],
  ['railpack.json', readRailpack],
  ['project.toml', readProject],
  ['zbpack.json', readZbpack],
];

export const builderReader: DeclarationReader = {
  name: 'builders',
  read(repository) {
    const heard = nothingHeard();
    for (const [name, read] of files) {
      for (const file of filesNamed(repository, [name])) {
        const config = file.endsWith('.toml') ? repository.toml(file) : repository.json(file);
        if (config) read(repository, file, config, heard);
      }
    }
    return heard;
  },
};

/** `...` stands for what the builder would do by itself, so that the whole is not known. */
function linesOf(value: unknown): string | undefined {
  const lines = asMany(value).flatMap((line) => commandOf(isParsed(line) ? line.cmd : line) ?? []);
  return lines.length === 0 || lines.includes('...') ? undefined : lines.join(' && ');
}

function readNixpacks(repository: Repository, file: string, config: Parsed, heard: Heard): void {
  const directory = folderOfFile(file);
  const phases = asObject(config.phases);
  const own = asEntries(phases).filter(([name]) => !['setup', 'install', 'build'].includes(name));
  const extra = own.flatMap(([, phase]) => linesOf(asObject(phase).cmds) ?? []);
  const build = linesOf(asObject(phases.build).cmds ?? asObject(phases.build).cmd);
  const packages = asMany(asObject(phases.setup).nixPkgs).map(packageVersion);
  heard.declarations.push(
    declare(repository, {
      file,
      directory,
      strength: strengths.builder,
      install: linesOf(asObject(phases.install).cmds),
      build:
        build === undefined && extra.length === 0
          ? undefined
          : [build, ...extra].filter(Boolean).join(' && '),
      start: asObject(config.start).cmd,
      versions: {
        ...Object.fromEntries(packages.filter((each) => each !== undefined)),
        ...versionsIn(config.variables),
      },
    }),
  );
  heard.variables.push(...plainVariables(config.variables, file, directory));
}

/** `nodejs_22`, `nodejs-18_x`, `python311`, `go_1_22`: names of Nix packages have the version in them. */
function packageVersion(value: unknown): readonly [string, string] | undefined {
  const found = /^(nodejs|python|go|ruby|jdk|php|elixir|bun|deno)[-_]?(\d[\d_]*)/.exec(asText(value) ?? '');
  const [, name = '', digits = ''] = found ?? [];
  if (!found || digits === '') return undefined;
  const tool = toolOf(`${name.toUpperCase()}_VERSION`);
  const plain = digits.replace(/_+$/, '').replace(/_/g, '.');
  const isGlued = /^(?:python|php)$/.test(name) && !plain.includes('.') && plain.length > 1;
  return tool === undefined ? undefined : [tool, isGlued ? `${plain[0]}.${plain.slice(1)}` : plain];
}

function readRailpack(repository: Repository, file: string, config: Parsed, heard: Heard): void {
  const directory = folderOfFile(file);
  const [steps, deploy] = [asObject(config.steps), asObject(config.deploy)];
  const own = asEntries(steps).filter(([name]) => !['install', 'build', 'packages'].includes(name));
  const extra = own.flatMap(([, step]) => linesOf(asObject(step).commands) ?? []);
  const build = linesOf(asObject(steps.build).commands);
  const lines = [build, ...extra].filter(Boolean);
  heard.declarations.push(
    declare(repository, {
      file,
      directory,
      strength: strengths.builder,
      install: linesOf(asObject(steps.install).commands),
      build:
        lines.length === 0 || (build === undefined && steps.build !== undefined)
          ? undefined
          : lines.join(' && '),
      start: deploy.startCommand,
      versions: Object.fromEntries(
        asEntries(config.packages).flatMap(([name, version]) => {
          const [tool, line] = [toolOf(`${name.toUpperCase()}_VERSION`), asText(version)];
          return tool && line && /^\d/.test(line) ? [[tool, line]] : [];
        }),
      ),
    }),
  );
  heard.variables.push(...plainVariables(deploy.variables, file, directory));
}

/** Cloud Native Buildpacks are steered by variables, of which a few say what we want to know. */
function readProject(repository: Repository, file: string, config: Parsed, heard: Heard): void {
  const io = asObject(asObject(config.io).buildpacks);
  const builds = [asObject(config.build), asObject(io.build)];
  const variables = builds.flatMap((build) => [
    ...asObjects(build.env),
    ...asObjects(asObject(build.env).build),
  ]);
  const settings: Record<string, unknown> = Object.create(null);
  for (const { name, value } of variables) if (typeof name === 'string') settings[name] = value;
  const script = asText(settings.BP_NODE_RUN_SCRIPTS)?.split(',')[0]?.trim();
  const isServed = settings.BP_WEB_SERVER !== undefined;
  const directory = folderOfFile(file);
  heard.declarations.push(
    declare(repository, {
      file,
      directory,
      strength: strengths.builder,
      build: script && /^[\w:.-]{1,60}$/.test(script) ? `npm run ${script}` : undefined,
      ...(isServed
        ? {
            output: settings.BP_WEB_SERVER_ROOT ?? 'public',
            isSinglePage: String(settings.BP_WEB_SERVER_ENABLE_PUSH_STATE) === 'true',
          }
        : {}),
      versions: versionsIn(settings),
    }),
  );
}

function readZbpack(repository: Repository, file: string, config: Parsed, heard: Heard): void {
  heard.declarations.push(
    declare(repository, {
      file,
      directory: folderOfFile(file),
      strength: strengths.builder,
      install: config.install_command,
      build: config.build_command,
      start: config.start_command,
      output: config.output_dir,
    }),
  );
}

/** Without those that speak to the builder. */
function plainVariables(record: unknown, file: string, directory: string) {
  return variablesIn(record, { file, directory }).filter(
    ({ key }) => toolOf(key) === undefined && !/^(?:NIXPACKS|RAILPACK|BP|BPL)_/.test(key),
  );
}
