/**
 * Which version of a tool a repository asks for, from the files that version managers read: `.nvmrc` and its kin,
 * mise, asdf, devbox, proto, sdkman. The nearest directory counts; in one directory the file made for the one tool
 * goes before those that list many. Manifests (`engines`, `requires-python`, …) are read by each ecosystem itself.
 */

import { certain, type Evidenced, evidenced } from '../evidence.ts';
import type { Project } from '../project.ts';
import { objectAt, stringAt } from '../readers/shape.ts';
import { isParsed, join, parentOf, type Repository } from '../repository.ts';

type Reader = (repository: Repository, path: string, tool: string) => string | undefined;

/** Names under which the same tool goes elsewhere; mise also writes `core:` before its own. */
const aliases: Readonly<Record<string, readonly string[]>> = {
  node: ['nodejs'],
  python: ['python3'],
  go: ['golang'],
  java: ['jdk', 'openjdk', 'zulu'],
  rust: ['rustc', 'rustup'],
  dotnet: ['dotnet-core', 'dotnet-sdk'],
  hugo: ['gohugo'],
  haskell: ['ghc'],
};

/** Files that hold the version of one tool. */
const ownFiles: Readonly<Record<string, readonly string[]>> = {
  node: ['.nvmrc', '.node-version'],
  python: ['.python-version', 'runtime.txt'],
  ruby: ['.ruby-version'],
  java: ['.java-version', 'system.properties', '.sdkmanrc'],
  go: ['.go-version'],
  php: ['.php-version'],
  rust: ['rust-toolchain.toml', 'rust-toolchain'],
  bun: ['.bun-version'],
  deno: ['.deno-version', '.dvmrc'],
  elixir: ['.elixir-version', '.exenv-version', 'elixir_buildpack.config'],
  erlang: ['elixir_buildpack.config'],
  swift: ['.swift-version'],
  zig: ['.zig-version', '.zigversion'],
  crystal: ['.crystal-version'],
  perl: ['.perl-version'],
  dotnet: ['global.json'],
  flutter: ['.fvmrc'],
  maven: ['.sdkmanrc'],
  gradle: ['.sdkmanrc'],
  sbt: ['.sdkmanrc'],
};

const listFiles: readonly (readonly [string, Reader])[] = [
  ['mise.toml', fromMise],
  ['.mise.toml', fromMise],
  ['mise/config.toml', fromMise],
  ['.mise/config.toml', fromMise],
  ['.config/mise.toml', fromMise],
  ['.config/mise/config.toml', fromMise],
  ['.rtx.toml', fromMise],
  ['.tool-versions', fromToolVersions],
  ['.prototools', fromProto],
  ['devbox.json', fromDevbox],
];

export function toolVersion({ repository, path }: Project, tool: string): Evidenced<string> | undefined {
  for (let at: string | undefined = path; at !== undefined; at = parentOf(at)) {
    for (const name of (Object.hasOwn(ownFiles, tool) ? ownFiles[tool] : undefined) ?? []) {
      const found = read(repository, join(at, name), tool, fromOwnFile);
      if (found) return found;
    }
    for (const [name, reader] of listFiles) {
      const found = read(repository, join(at, name), tool, reader);
      if (found) return found;
    }
  }
  return undefined;
}

function read(
  repository: Repository,
  path: string,
  tool: string,
  reader: Reader,
): Evidenced<string> | undefined {
  if (!repository.has(path)) return undefined;
  const version = plain(reader(repository, path, tool));
  return version === undefined ? undefined : evidenced(version, certain, path, `${tool} ${version}`);
}

/** Without distribution and prefix: `v22.1` and `temurin-21.0.2+13` are 22.1 and 21.0.2. */
function plain(version: string | undefined): string | undefined {
  const text = version?.trim().slice(0, 60) ?? '';
  if (text === '' || /^(latest|system|ref:|path:|none|false|true)/.test(text)) return undefined;
  if (/^(lts|stable|nightly|beta)/.test(text)) return text;
  const number = /\d{1,5}(?:\.(?:\d{1,5}|x|\*)){0,3}/.exec(text);
  return /^[<>=~^]/.test(text) ? text : number?.[0];
}

function fromOwnFile(repository: Repository, path: string, tool: string): string | undefined {
  if (path.endsWith('rust-toolchain.toml')) return rustChannel(repository, path);
  if (path.endsWith('global.json')) return stringAt(repository.json(path), 'sdk', 'version');
  if (path.endsWith('.fvmrc')) return stringAt(repository.json(path), 'flutter');
  const lines = firstLines(repository, path);
  if (path.endsWith('system.properties')) return property(lines, 'java.runtime.version');
  if (path.endsWith('.sdkmanrc')) return property(lines, tool);
  if (path.endsWith('elixir_buildpack.config')) return property(lines, `${tool}_version`);
  if (path.endsWith('rust-toolchain') && lines[0]?.startsWith('[')) return rustChannel(repository, path);
  const [line = ''] = lines;
  // runtime.txt is also read for other languages: `python-3.12.1`, `ruby-3.3.0`.
  const named = /^([a-z]+)-/.exec(line)?.[1];
  if (path.endsWith('runtime.txt') && named !== undefined && named !== tool) return undefined;
  return line;
}

function rustChannel(repository: Repository, path: string): string | undefined {
  return stringAt(repository.toml(path), 'toolchain', 'channel');
}

function firstLines(repository: Repository, path: string): string[] {
  return (repository.text(path) ?? '')
    .slice(0, 4_000)
    .split('\n')
    .map((line) => line.split('#')[0]?.trim() ?? '')
    .filter((line) => line !== '');
}

function property(lines: readonly string[], key: string): string | undefined {
  const line = lines.find((each) => each.split('=')[0]?.trim() === key);
  return line?.slice(line.indexOf('=') + 1).trim();
}

function fromMise(repository: Repository, path: string, tool: string): string | undefined {
  return fromRecord(objectAt(repository.toml(path), 'tools'), tool);
}

function fromProto(repository: Repository, path: string, tool: string): string | undefined {
  return fromRecord(repository.toml(path) ?? {}, tool);
}

function fromRecord(record: Readonly<Record<string, unknown>>, tool: string): string | undefined {
  const name = namesOf(tool).find((each) => Object.hasOwn(record, each));
  const value = name === undefined ? undefined : record[name];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  const version = isParsed(first) ? first.version : first;
  return typeof version === 'string' || typeof version === 'number' ? String(version) : undefined;
}

function fromToolVersions(repository: Repository, path: string, tool: string): string | undefined {
  for (const line of firstLines(repository, path)) {
    const [name = '', version] = line.split(/\s+/);
    if (namesOf(tool).includes(name)) return version;
  }
  return undefined;
}

function fromDevbox(repository: Repository, path: string, tool: string): string | undefined {
  const packages = repository.json(path)?.packages;
  if (isParsed(packages)) return fromRecord(packages, tool);
  if (!Array.isArray(packages)) return undefined;
  for (const each of packages) {
    const [name = '', version] = String(each).split('@');
    if (namesOf(tool).includes(name)) return version;
  }
  return undefined;
}

function namesOf(tool: string): readonly string[] {
  return [tool, `core:${tool}`, ...((Object.hasOwn(aliases, tool) ? aliases[tool] : undefined) ?? [])];
}
