/** What a project needs to run, by name, from the manifests of every ecosystem. Of tests and tools nothing. */
import { asEntries, asList, asObject, asText } from '../readers/shape.ts';
import { isParsed, nameOf, parentOf, type Repository } from '../repository.ts';
import { lookedAt } from '../variables/looked-at.ts';
import { dependencyLines } from './dependency-lines.ts';

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
    (repository, file) => keysOf(repository.json(file), ['dependencies', 'optionalDependencies']),
  ],
  [
    /^(?:deno\.jsonc?|jsr\.json|import_map\.json)$/,
    (repository, file) => valuesOf(repository.json(file)?.imports),
  ],
  [/^composer\.json$/, (repository, file) => keysOf(repository.json(file), ['require'])],
  [/^pyproject\.toml$/, readPyproject],
  [/^Pipfile$/, (repository, file) => withExtras(repository.toml(file)?.packages)],
  [/^Cargo\.toml$/, readCargo],
  [/^(?:environment|conda)\.ya?ml$/, readConda],
  [/^pubspec\.yaml$/, (repository, file) => keysOf(repository.yaml(file), ['dependencies'])],
  [/^shard\.yml$/, (repository, file) => keysOf(repository.yaml(file), ['dependencies'])],
  [/^gleam\.toml$/, (repository, file) => keysOf(repository.toml(file), ['dependencies'])],
  [
    /^(?:requirements(?:[._-](?:prod|production|base|common|main|web|app|server))?\.(?:txt|in)|go\.mod|Gemfile|gems\.rb|pom\.xml|build\.gradle(?:\.kts)?|build\.sbt|mix\.exs|project\.clj|deps\.edn|Package\.swift|package\.yaml|setup\.(?:py|cfg)|.+\.(?:csproj|fsproj|cabal|toml\.versions)|Directory\.Packages\.props|libs\.versions\.toml|cpanfile)$/,
    (repository, file) => dependencyLines(nameOf(file), repository.text(file) ?? ''),
  ],
];

export function dependenciesOf(repository: Repository): readonly Dependency[] {
  const found: Dependency[] = [];
  for (const file of repository.filesUnder('', [''])) {
    const directory = parentOf(file) ?? '';
    const reader = readers.find(([pattern]) => pattern.test(nameOf(file)))?.[1];
    if (!reader || !lookedAt(repository, directory)) continue;
    for (const name of reader(repository, file).slice(0, mostNames)) found.push({ name, file, directory });
  }
  return found;
}

function keysOf(manifest: unknown, fields: readonly string[]): readonly string[] {
  return fields.flatMap((field) => asEntries(asObject(manifest)[field]).map(([name]) => name));
}

function valuesOf(record: unknown): readonly string[] {
  return asEntries(record).flatMap(([, value]) => asText(value) ?? []);
}

/** `celery = {extras = ["redis"]}`, `sqlx = {features = ["postgres"]}`. */
function withExtras(record: unknown): readonly string[] {
  return asEntries(record).map(([name, value]) => {
    const extras = isParsed(value) ? [...asList(value.extras), ...asList(value.features)] : [];
    return [name, ...extras.filter((each) => typeof each === 'string')].join(' ');
  });
}

function readPyproject(repository: Repository, file: string): readonly string[] {
  const config = repository.toml(file);
  const poetry = asObject(asObject(config?.tool).poetry);
  const listed = asList(asObject(config?.project).dependencies).flatMap(
    (line) => asText(line)?.split(/[;<>=~!\s]/)[0] ?? [],
  );
  return [...listed, ...withExtras(poetry.dependencies)];
}

function readCargo(repository: Repository, file: string): readonly string[] {
  const config = repository.toml(file);
  return [...withExtras(config?.dependencies), ...withExtras(asObject(config?.workspace).dependencies)];
}

function readConda(repository: Repository, file: string): readonly string[] {
  return asList(repository.yaml(file)?.dependencies).flatMap((each) => {
    if (isParsed(each)) return asList(each.pip).flatMap((line) => asText(line)?.split(/[=<>~]/)[0] ?? []);
    return asText(each)?.split(/[=<>~ ]/)[0] ?? [];
  });
}
