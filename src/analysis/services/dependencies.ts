/** What a project needs to run, by name, from the manifests of every ecosystem. Of tests and tools nothing. */
import { readGoModule } from '../ecosystems/go/go-module.ts';
import { productionLines } from '../ecosystems/jvm/gradle.ts';
import { readMaven } from '../ecosystems/jvm/maven.ts';
import { requirementsIn } from '../ecosystems/python/python-dependencies.ts';
import { directGems } from '../ecosystems/ruby/gems.ts';
import { asEntries, asTexts, valueAt } from '../readers/shape.ts';
import { nameOf, parentOf, type Repository } from '../repository.ts';
import { isAnalysed } from '../variables/analysed-folders.ts';

export interface Dependency {
  /** With what is asked of it: `sqlx postgres`, `celery[redis]`. */
  readonly name: string;
  readonly file: string;
  readonly directory: string;
}

const mostNames = 2_000;

type Reader = (repository: Repository, file: string) => readonly string[];

const readers: readonly (readonly [RegExp, Reader])[] = [
  [
    /^package\.json$/,
    (repository, file) => {
      const manifest = repository.json(file);
      return [...keysOf(manifest?.dependencies), ...keysOf(manifest?.optionalDependencies)];
    },
  ],
  [
    /^(?:deno\.jsonc?|jsr\.json|import_map\.json)$/,
    (repository, file) => asTexts(Object.values(repository.json(file)?.imports ?? {})),
  ],
  [/^composer\.json$/, (repository, file) => keysOf(repository.json(file)?.require)],
  [
    /^(?:requirements(?:[._-](?:prod|production|base|common|main|web|app|server))?\.(?:txt|in)|pyproject\.toml|Pipfile|setup\.(?:py|cfg)|(?:environment|conda)\.ya?ml)$/,
    requirementsIn,
  ],
  [/^Cargo\.toml$/, readCargo],
  [/^(?:pubspec\.yaml|shard\.yml)$/, (repository, file) => keysOf(repository.yaml(file)?.dependencies)],
  [/^go\.mod$/, (repository, file) => readGoModule(repository, file).requires],
  [/^(?:Gemfile|gems\.rb)$/, (repository, file) => [...directGems(repository, file)]],
  [/^pom\.xml$/, (repository, file) => readMaven(repository, file)?.libraries ?? []],
  [
    /^(?:build\.gradle(?:\.kts)?|libs\.versions\.toml)$/,
    (repository, file) => productionLines(repository, file).flatMap(gradleLibrary),
  ],
  [/^mix\.exs$/, byLine(/\{\s{0,5}:(\w{1,100})\s{0,5},/, /^#|only:\s*(?:\[)?\s*:(?:test|dev)\b(?!.*:prod)/)],
  [
    /^(?:.+\.(?:csproj|fsproj)|Directory\.Packages\.props)$/,
    byLine(/<PackageReference\s[^>]{0,200}?Include="([^"]{1,200})"/),
  ],
  [/^build\.sbt$/, byLine(/"[\w.-]{1,200}"\s*%{1,3}\s*"([\w.-]{1,200})"/, /%\s*"?Test\b|% "test"/)],
  [
    /^(?:project\.clj|deps\.edn)$/,
    byLine(/^[\s:\w{[]{0,40}?([\w.-]{1,100}\/[\w.-]{1,100}|[\w-]{3,60})[\s"]/, /^;/),
  ],
  [/^Package\.swift$/, byLine(/\.package\([^)]{0,200}?url:\s*"[^"]{1,200}\/([\w.-]{1,100}?)(?:\.git)?"/)],
  [/^cpanfile$/, byLine(/^requires\s+['"]([\w:]{1,100})/)],
  // Whatever is written like a name.
  [
    /^(?:package\.yaml|.+\.cabal)$/,
    byLine(/^[,\s"'-]{0,20}([a-zA-Z][\w.-]{1,80}(?:\[[\w,]{1,60}\])?)\s*(?:[<>=~!^,"']|$)/),
  ],
];

export function dependenciesOf(repository: Repository): readonly Dependency[] {
  const found: Dependency[] = [];
  for (const file of repository.filesUnder('', [''])) {
    const directory = parentOf(file) ?? '';
    const reader = readers.find(([pattern]) => pattern.test(nameOf(file)))?.[1];
    if (!reader || !isAnalysed(repository, directory)) continue;
    for (const name of reader(repository, file).slice(0, mostNames)) found.push({ name, file, directory });
  }
  return found;
}

/** For manifests that are programs or have a grammar of their own: one name a line, but not of lines that match `except`. */
function byLine(pattern: RegExp, except?: RegExp): Reader {
  return (repository, file) =>
    repository.lines(file).flatMap((whole) => {
      const line = whole.trim();
      return (except?.test(line) ? undefined : pattern.exec(line)?.[1]) ?? [];
    });
}

function keysOf(record: unknown): readonly string[] {
  return asEntries(record).map(([name]) => name);
}

/** `sqlx = {features = ["postgres"]}`. */
function readCargo(repository: Repository, file: string): readonly string[] {
  const manifest = repository.toml(file);
  return [valueAt(manifest, 'dependencies'), valueAt(manifest, 'workspace', 'dependencies')]
    .flatMap(asEntries)
    .map(([name, wanted]) => [name, ...asTexts(valueAt(wanted, 'features'))].join(' '));
}

/** A library that comes with the program; not one that only writes code or serves developers. */
function gradleLibrary(line: string): string[] {
  if (
    /^(?:\w{0,40}[tT]est\w*(?:Implementation|RuntimeOnly|CompileOnly)|developmentOnly|kapt|annotationProcessor)/.test(
      line,
    )
  )
    return [];
  const plain = /["']([\w.-]{1,200}:[\w.-]{1,200})(?::[^"']{0,100})?["']/.exec(line)?.[1];
  const named = /name\s*[:=]\s*["']([\w.-]{1,200})["']/.exec(line)?.[1];
  const alias = /\(\s*libs\.([\w.]{1,100})\s*\)/.exec(line)?.[1];
  return [plain?.split(':')[1] ?? named ?? alias ?? ''].filter(Boolean);
}
