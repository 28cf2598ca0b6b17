/**
 * Which databases an app needs: from drivers among its production dependencies, from the configuration of its ORM,
 * and from the names and defaults of its variables. Refuses to take a file (SQLite) for a service, and a tool of
 * developers for a need. What compose and platform files declare comes from `declarations/`.
 */
import type { ServiceFinding } from '../detector.ts';
import { nameOf, type Repository } from '../repository.ts';
import { envFileKind } from '../variables/env-files.ts';
import { serviceOf } from '../variables/names.ts';
import { variablesOf } from '../variables/variables.ts';
import { addressesIn } from './addresses.ts';
import { configuredIn, type DatabaseFinding } from './configuration.ts';
import { dependenciesOf } from './dependencies.ts';
import { kindOfDialect, kindsOfDriver } from './kinds.ts';

/** Variables whose value names a kind of database: `DB_CONNECTION=pgsql`, `QUEUE_CONNECTION=redis`. */
const choosing =
  /^(?:(?:DB|DATABASE|TYPEORM|SEQUELIZE)_(?:CONNECTION|CLIENT|DRIVER|TYPE|DIALECT|ENGINE|PROVIDER|ADAPTER)|(?:QUEUE|CACHE|SESSION|BROADCAST)_(?:CONNECTION|DRIVER|STORE))$/;

export function findServices(repository: Repository): readonly ServiceFinding[] {
  const drivers = driversIn(repository);
  const configured = [...configuredIn(repository), ...chosenByVariable(repository)];
  const addresses = addressesIn(repository);
  const mentionedKinds = byVariables(repository);
  const known = new Set([...drivers, ...configured].map(({ kind }) => kind));
  const found = [
    ...findings(drivers, 'driver'),
    ...findings(configured, 'configuration'),
    // An address alone may be an example in a text; with a driver it is what the driver is for.
    ...findings(
      addresses.filter(({ kind }) => known.has(kind)),
      'configuration',
    ),
    ...findings(
      addresses.filter(({ kind }) => !known.has(kind)),
      'variable',
    ),
    ...findings(mentionedKinds, 'variable'),
  ];
  return [...found, ...guessed(repository, found, known.has('sqlite'))];
}

function findings(all: readonly DatabaseFinding[], by: ServiceFinding['by']): ServiceFinding[] {
  return all.flatMap(({ kind, directory, source }) =>
    kind === 'sqlite' ? [] : [{ kind, version: null, by, directory, source }],
  );
}

function driversIn(repository: Repository): readonly DatabaseFinding[] {
  return dependenciesOf(repository).flatMap(({ name, file, directory }) =>
    kindsOfDriver(name).map(
      (kind): DatabaseFinding => ({ kind, directory, source: { file, note: `driver ${name.slice(0, 60)}` } }),
    ),
  );
}

function chosenByVariable(repository: Repository): readonly DatabaseFinding[] {
  return variablesOf(repository).flatMap((variable): DatabaseFinding[] => {
    const kind = choosing.test(variable.key) ? kindOfDialect(variable.default) : undefined;
    return kind === undefined ? [] : [{ kind, directory: variable.directory, source: variable.source }];
  });
}

function byVariables(repository: Repository): readonly DatabaseFinding[] {
  return variablesOf(repository).flatMap((variable): DatabaseFinding[] => {
    const { key, directory, source } = variable;
    const named = serviceOf(key);
    // The host of a service in an example or in a framework's own configuration: they list all that they could use.
    const isListed = variable.onlyIfNamed === true || envFileKind(nameOf(source.file)) !== 'other';
    const isAddress = named?.part === 'url' || (named?.part === 'host' && !isListed);
    const kind =
      variable.behind?.kind ?? (named && isAddress && named.kind !== 'database' ? named.kind : undefined);
    return kind === undefined ? [] : [{ kind, directory, source }];
  });
}

/** `DATABASE_URL` with nothing else to go by is PostgreSQL more often than not. */
function guessed(
  repository: Repository,
  found: readonly ServiceFinding[],
  hasFile: boolean,
): ServiceFinding[] {
  const isKnown = hasFile || found.some(({ kind }) => kind !== 'redis');
  const variables = variablesOf(repository);
  if (isKnown || variables.some(({ behind }) => behind?.sqliteFolder !== undefined)) return [];
  const first = variables.find(({ key }) => {
    const named = serviceOf(key);
    return named?.kind === 'database' && named.part === 'url';
  });
  if (!first) return [];
  return [
    { kind: 'postgres', version: null, by: 'variable', directory: first.directory, source: first.source },
  ];
}
