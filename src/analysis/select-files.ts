/**
 * Which files of a tree are read. First those in which something is declared, then lock files, then other
 * configuration, then source, in each case from the root downwards, until a limit is met.
 */
import { type Folder, Folders } from './folders.ts';
import type { AnalysisLimits } from './limits.ts';
import { nameOf, parentOf } from './repository.ts';
import type { Warning } from './result.ts';
import type { TreeEntry } from './tree.ts';

/** Sources that are larger were made by a program, and parsing them costs more than they tell. */
const sourceBytes = 256 * 1024;
/** Configuration that nobody asks for by name. */
const otherBytes = 256 * 1024;
const deepestLockFile = 4;
const mostManifests = 4_000;

const manifests = new Set(
  `package.json package.json5 deno.json deno.jsonc jsr.json pnpm-workspace.yaml lerna.json turbo.json nx.json project.json
  workspace.json rush.json angular.json .angular-cli.json tsconfig.json jsconfig.json .nvmrc .node-version
  .tool-versions mise.toml .mise.toml bunfig.toml .npmrc .yarnrc .yarnrc.yml ember-cli-build.js redwood.toml
  requirements.txt pyproject.toml setup.py setup.cfg Pipfile environment.yml runtime.txt .python-version manage.py
  go.mod go.work Cargo.toml rust-toolchain rust-toolchain.toml pom.xml build.gradle build.gradle.kts settings.gradle
  settings.gradle.kts gradle.properties build.sbt composer.json Gemfile .ruby-version config.ru Rakefile artisan
  global.json Directory.Build.props mix.exs rebar.config project.clj deps.edn build.clj bb.edn stack.yaml
  cabal.project package.yaml shard.yml pubspec.yaml Package.swift build.zig build.zig.zon gleam.toml CMakeLists.txt
  meson.build Makefile makefile GNUmakefile justfile Justfile Taskfile.yml haunt.scm hugo.toml hugo.yaml config.toml
  config.yaml config.yml _config.yml _config.toml zola.toml book.toml mkdocs.yml antora.yml Staticfile CNAME
  Procfile app.json render.yaml render.yml fly.toml railway.json railway.toml nixpacks.toml railpack.json vercel.json
  now.json netlify.toml _redirects wrangler.toml wrangler.json wrangler.jsonc firebase.json heroku.yml app.yaml app.yml
  project.toml buildpack.toml captain-definition static.json serve.json koyeb.yaml zeabur.json sevalla.json
  schema.prisma nest-cli.json .nycrc ormconfig.json .sequelizerc Brewfile start.sh run.sh entrypoint.sh
  docker-entrypoint.sh bin/start .php-version .java-version .go-version .swift-version .terraform-version
  system.properties index.html index.php nginx.conf Caddyfile lunatic.toml default.nix flake.nix devbox.json
  .platform.app.yaml services.yaml pixi.toml uv.toml pdm.toml poetry.toml hatch.toml .buildpacks
  phoenix_static_buildpack.config elixir_buildpack.config`.split(/\s+/),
);

const lockFiles = new Set(
  `package-lock.json npm-shrinkwrap.json pnpm-lock.yaml yarn.lock bun.lock deno.lock poetry.lock uv.lock pdm.lock
  Pipfile.lock pixi.lock Gemfile.lock composer.lock Cargo.lock mix.lock go.sum pubspec.lock shard.lock Package.resolved
  packages.lock.json stack.yaml.lock gradle.lockfile manifest.toml symfony.lock flake.lock rebar.lock`.split(
    /\s+/,
  ),
);

const otherEndings = new Set(
  `json jsonc json5 yaml yml toml xml ini cfg conf properties gradle kts csproj fsproj vbproj sln slnx props cabal
  gemspec nimble rockspec prisma env edn txt nix hocon opam asd rkt bzl bazel cr lock sbt tf hcl config`.split(
    /\s+/,
  ),
);

const sourceEndings = new Set(
  `js mjs cjs ts mts cts jsx tsx vue svelte astro coffee py pyw rb ru go rs java kt scala groovy clj cljs cljc php
  phtml cs fs vb ex exs erl hs lhs dart swift zig gleam c h cc cpp cxx hpp m scm ss sld lua sh bash ps1 pl pm psgi cob
  cbl cpy f90 nim v d ml jl r R html htm lisp cljd`.split(/\s+/),
);

const clientEndings = new Set(['js', 'mjs', 'css', 'html', 'htm', 'ts', 'json', 'txt', 'xml']);

const isTestFile = (name: string) =>
  /\.(?:test|spec|e2e|stories|story|cy|bench)\.[a-z]{2,4}$|_test\.(?:go|py|exs|dart|rb)$|_spec\.rb$|^test_[^/]{1,80}\.py$|^conftest\.py$|\.d\.[cm]?ts$|\.min\.js$|Tests?\.(?:java|kt|cs|scala)$/.test(
    name,
  );

type Kind = 'manifest' | 'lock' | 'other' | 'source';

export interface Survey {
  /** Without what lies in foreign folders or too deep. */
  readonly entries: readonly TreeEntry[];
  readonly folders: Folders;
  readonly hasSecondary: boolean;
  readonly warnings: readonly Warning[];
}

export function survey(all: readonly TreeEntry[], limits: AnalysisLimits, root: string): Survey {
  const folders = new Folders(all, root);
  const entries: TreeEntry[] = [];
  const warnings: Warning[] = [];
  let tooDeep: string | undefined;
  let hasSecondary = false;
  const kinds = new Map<string, Folder['kind']>();
  for (const entry of all) {
    const folder = parentOf(entry.path) ?? '';
    let kind = kinds.get(folder);
    if (kind === undefined) {
      const isTooDeep = depthOf(folder) >= limits.depth;
      if (isTooDeep) tooDeep ??= folder;
      kind = isTooDeep ? 'foreign' : folders.of(folder).kind;
      kinds.set(folder, kind);
    }
    if (kind === 'foreign') continue;
    if (kind === 'secondary') hasSecondary = true;
    entries.push(entry);
  }
  if (tooDeep !== undefined)
    warnings.push({
      code: 'too_deep',
      message: `Folders more than ${limits.depth} deep were left out, ${tooDeep.slice(0, 120)} for one.`,
      file: null,
    });
  return { entries, folders, hasSecondary, warnings };
}

export interface Selection {
  readonly paths: readonly string[];
  readonly warnings: readonly Warning[];
}

export interface SelectOptions {
  readonly limits: AnalysisLimits;
  readonly folders: Folders;
  readonly withSecondary: boolean;
}

export function selectFiles(entries: readonly TreeEntry[], options: SelectOptions): Selection {
  const { limits, folders } = options;
  const buckets: Record<Kind, TreeEntry[][]> = { manifest: [], lock: [], other: [], source: [] };
  const warnings: Warning[] = [];
  for (const entry of entries) {
    if (entry.type !== 'file') continue;
    const folder = folders.of(parentOf(entry.path) ?? '');
    const kind = kindOf(entry, folder, options.withSecondary);
    if (kind === undefined) continue;
    if (entry.size > sizeLimit(kind, entry.path, limits)) {
      if (kind === 'manifest' || kind === 'lock') warnings.push(tooLarge(entry));
      continue;
    }
    buckets[kind][folder.depth] ??= [];
    buckets[kind][folder.depth]?.push(entry);
  }
  return { ...take(buckets, limits, warnings), warnings };
}

function take(buckets: Record<Kind, TreeEntry[][]>, limits: AnalysisLimits, warnings: Warning[]) {
  const paths: string[] = [];
  const most: Record<Kind, number> = {
    manifest: mostManifests,
    lock: 200,
    other: limits.sourceFiles,
    source: limits.sourceFiles,
  };
  // Lock files and unnamed configuration may not take the room that source needs.
  const share: Record<Kind, number> = { manifest: 0.5, lock: 0.35, other: 0.15, source: 1 };
  let bytes = 0;
  for (const kind of ['manifest', 'lock', 'other', 'source'] as const) {
    const room = Math.min(limits.totalBytes - bytes, limits.totalBytes * share[kind]);
    let [taken, used, left] = [0, 0, 0];
    for (const entry of buckets[kind].flat()) {
      if (taken >= most[kind] || used + entry.size > room) left += 1;
      else {
        paths.push(entry.path);
        taken += 1;
        used += entry.size;
      }
    }
    bytes += used;
    if (left > 0)
      warnings.push({
        code: 'not_all_read',
        message: `${left} ${kind === 'source' ? 'source' : kind === 'lock' ? 'lock' : 'configuration'} files were not read: the repository is larger than what is looked at.`,
        file: null,
      });
  }
  return { paths };
}

function kindOf(entry: TreeEntry, folder: Folder, withSecondary: boolean): Kind | undefined {
  const name = nameOf(entry.path);
  if (folder.kind === 'workshop') return undefined;
  if (isManifest(name)) return 'manifest';
  if (lockFiles.has(name)) return folder.depth < deepestLockFile ? 'lock' : undefined;
  if (folder.kind === 'secondary' && !withSecondary) return undefined;
  const ending = endingOf(name);
  if (folder.isBuilt || isTestFile(name)) return undefined;
  if (folder.isClient && clientEndings.has(ending) && name !== 'index.html') return undefined;
  if (sourceEndings.has(ending)) return 'source';
  if (!name.includes('.') && folder.depth <= 1 && entry.size < 16 * 1024) return 'other';
  return otherEndings.has(ending) || name.startsWith('.') ? 'other' : undefined;
}

function isManifest(name: string): boolean {
  if (manifests.has(name)) return true;
  return (
    /^(?:\.env|env\.|Dockerfile|Containerfile|Procfile|requirements|docker-compose|compose|fly\.|railway\.)/i.test(
      name,
    ) ||
    /(?:\.config\.[cm]?[jt]s|\.config\.json|-config\.[cm]?[jt]s|\.Dockerfile|\.csproj|\.fsproj|\.vbproj|\.sln|\.slnx|\.cabal|\.prisma|\.gemspec|\.env\.example)$/.test(
      name,
    ) ||
    /^(?:\.eleventy|\.vuepress|vue\.config|ecosystem|knexfile|svelte\.config)\.[cm]?[jt]s$/.test(name)
  );
}

/** Its parser needs time by the square of the length. */
const dockerfileBytes = 128 * 1024;

function sizeLimit(kind: Kind, path: string, limits: AnalysisLimits): number {
  if (/dockerfile/i.test(nameOf(path))) return Math.min(dockerfileBytes, limits.fileBytes);
  if (kind === 'lock') return limits.lockFileBytes;
  if (kind === 'manifest') return limits.fileBytes;
  return Math.min(limits.fileBytes, kind === 'source' ? sourceBytes : otherBytes);
}

function tooLarge({ path, size }: TreeEntry): Warning {
  return {
    code: 'file_too_large',
    message: `${path.slice(0, 200)} has ${size} bytes and was not read.`,
    file: path,
  };
}

function endingOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

function depthOf(path: string): number {
  let depth = path === '' ? 0 : 1;
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) depth += 1;
  return depth;
}
