/** What the configuration of an ORM or framework says about its database. Read as data or by the line, never run. */
import type { ServiceFinding } from '../detector.ts';
import { asMany } from '../readers/shape.ts';
import { isParsed, nameOf, parentOf, type Repository } from '../repository.ts';
import { isAnalysed } from '../variables/analysed-folders.ts';
import { type DatabaseKind, kindOfDialect } from './kinds.ts';

export interface DatabaseFinding {
  readonly kind: DatabaseKind;
  readonly directory: string;
  readonly source: ServiceFinding['source'];
}

/** Keys that name the kind of database, in whatever an ORM calls its options. */
const naming = new Set(['dialect', 'provider', 'client', 'type', 'driver', 'adapter', 'engine', 'connector']);
/** Calls that are given the options of a database. */
const constructors = new Set([
  ...['Sequelize', 'SequelizeModule.forRoot', 'DataSource', 'createConnection'],
  ...['TypeOrmModule', 'TypeOrmModule.forRoot', 'TypeOrmModule.forRootAsync', 'forRoot'],
  ...['MikroORM.init', 'MikroOrmModule.forRoot', 'initORM', 'knex', 'drizzle', 'Kysely'],
  // Of Keystone and Payload.
  ...['config', 'buildConfig'],
]);
/** Where ORMs and systems built on them keep those options, whatever the language of the file. */
const configNames = new Set([
  ...['drizzle.config', 'knexfile', 'ormconfig', 'mikro-orm.config', 'typeorm.config', 'orm.config'],
  ...['keystone', 'payload.config', 'medusa-config', 'data-source', 'database', 'db'],
]);
const isConfigFile = (name: string) => configNames.has(/^(.+)\.(?:[cm]?[jt]s|json)$/.exec(name)?.[1] ?? '');
const scripts = /\.(?:[cm]?[jt]sx?)$/;

interface LineForm {
  readonly file: RegExp;
  readonly line: RegExp;
}

const forms: readonly LineForm[] = [
  { file: /\.prisma$/, line: /^\s{0,20}provider\s{0,20}=\s{0,20}"(\w{1,40})"/ },
  { file: /\.py$/, line: /["']django\.(?:contrib\.gis\.)?db\.backends\.(\w{1,30})["']/ },
  { file: /\.py$/, line: /["']django(?:_redis|\.core)\.cache\.(?:backends\.)?(redis)?/ },
  { file: /\.exs?$/, line: /Ecto\.Adapters\.(Postgres|MyXQL|SQLite3)/ },
  { file: /(?:^|\/)config\/database\.yml$/, line: /^\s{0,20}adapter:\s{0,10}["']?(\w{1,20})/ },
  { file: /(?:^|\/)config\/cable\.yml$/, line: /^\s{0,20}adapter:\s{0,10}["']?(redis)/ },
  {
    file: /(?:^|\/)config\/packages\/doctrine\.ya?ml$/,
    line: /^\s{0,20}driver:\s{0,10}["']?(?:pdo_)?(\w{1,20})/,
  },
];
const ecto: Readonly<Record<string, DatabaseKind>> = {
  Postgres: 'postgres',
  MyXQL: 'mysql',
  SQLite3: 'sqlite',
};

export function configuredIn(repository: Repository): readonly DatabaseFinding[] {
  const found: DatabaseFinding[] = [];
  for (const path of repository.filesUnder('', [''])) {
    const directory = parentOf(path) ?? '';
    if (!isAnalysed(repository, directory)) continue;
    const fitting = forms.filter(({ file }) => file.test(path));
    if (fitting.length > 0) found.push(...byLine(repository, path, directory, fitting));
    if (scripts.test(path)) found.push(...bySource(repository, path, directory));
    else if (isConfigFile(nameOf(path)) || /(?:^|\/)config\/config\.json$/.test(path)) {
      for (const kind of kindsIn(repository.json(path))) found.push(configuredFor(kind, path, directory));
    }
  }
  return found;
}

function configuredFor(kind: DatabaseKind, file: string, directory: string, line?: number): DatabaseFinding {
  const note = `configured for ${kind}`;
  return { kind, directory, source: line === undefined ? { file, note } : { file, note, line } };
}

function byLine(
  repository: Repository,
  path: string,
  directory: string,
  fitting: readonly LineForm[],
): readonly DatabaseFinding[] {
  const bytes = repository.bytes(path);
  const hints = ['provider', 'django', 'Ecto.Adapters', 'adapter', 'driver'];
  if (!bytes || !hints.some((hint) => bytes.includes(hint))) return [];
  const lines = (repository.text(path) ?? '').slice(0, 256 * 1024).split('\n', 4_000);
  const isSections = path.endsWith('.yml');
  let section = '';
  return lines.flatMap((whole, at) => {
    const line = whole.slice(0, 400);
    if (isSections) section = /^(\w{1,40}):/.exec(line)?.[1] ?? section;
    // What development and tests use says nothing of production.
    if (/^\s*(?:#|\/\/)/.test(line) || /^(?:development|test)$/.test(section)) return [];
    const name = fitting.map(({ line: form }) => form.exec(line)?.[1]).find((each) => each !== undefined);
    const kind = name === undefined ? undefined : (ecto[name] ?? kindOfDialect(name));
    return kind === undefined ? [] : [configuredFor(kind, path, directory, at + 1)];
  });
}

function bySource(repository: Repository, path: string, directory: string): readonly DatabaseFinding[] {
  const facts = repository.source(path);
  if (!facts) return [];
  const isConfig = isConfigFile(nameOf(path)) || /(?:^|\/)config\/database\.[cm]?[jt]s$/.test(path);
  const configured = isConfig
    ? kindsIn(facts.config).map((kind) => configuredFor(kind, path, directory))
    : [];
  const called = facts.calls
    .filter(({ name }) => constructors.has(name))
    .flatMap((call) =>
      kindsIn(call.arguments).map((kind) => configuredFor(kind, path, directory, call.line)),
    );
  return [...configured, ...called];
}

/** Wide rather than deep, and never more than a few hundred values. Sections for development are passed over. */
function kindsIn(data: unknown): readonly DatabaseKind[] {
  const kinds = new Set<DatabaseKind>();
  let level: unknown[] = [data];
  for (let depth = 0; depth < 6 && level.length > 0 && level.length < 500; depth += 1) {
    const next: unknown[] = [];
    for (const value of level) {
      if (Array.isArray(value)) next.push(...asMany(value));
      if (!isParsed(value)) continue;
      for (const [key, inner] of Object.entries(value).slice(0, 200)) {
        if (/^(?:development|test|dev|staging)$/.test(key)) continue;
        const kind = naming.has(key) ? kindOfDialect(inner) : undefined;
        if (kind) kinds.add(kind);
        if (typeof inner === 'object' && inner !== null) next.push(inner);
      }
    }
    level = next;
  }
  return [...kinds];
}
