/** What services give to the application: their URLs, and the parts of them that its code asks for by other names. */
import { servicesOfVariable } from '../../analysis/resolve/service-names.ts';
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import { Secret } from '../../secret.ts';
import type { Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import { type OpenService, openServices } from './credentials.ts';
import { appDatabase, appUser } from './kinds/kind.ts';
import { kinds } from './kinds/kinds.ts';
import { variableNames } from './variable-names.ts';

/** In the caller's transaction, as credentials may be made. `asked` are keys that the analysis expects of a service, such as `DB_HOST`; those that fit none are left out. */
export async function serviceVariables(
  tx: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  asked: readonly string[] = [],
): Promise<Map<string, Secret>> {
  const services = await openServices(tx, sealer, workspaceId, environmentId);
  const variables = new Map<string, Secret>();
  for (const [service, names] of variableNames(services)) {
    const url = kinds[service.kind].url(service.name, service.credentials);
    for (const name of names) variables.set(name, url);
  }
  for (const key of asked) {
    if (variables.has(key)) continue;
    const fitting = servicesOfVariable(key);
    const service = services.find(({ kind }) => fitting.includes(kind));
    const value = service && partOf(service, key);
    if (value) variables.set(key, value);
  }
  return variables;
}

const parts: readonly (readonly [RegExp, (service: OpenService) => Secret])[] = [
  [/(?:HOST|HOSTNAME|SERVER|ADDR|ADDRESS|ENDPOINT|HOSTS)$/, ({ name }) => new Secret(name)],
  [/PORT$/, ({ kind }) => new Secret(String(kinds[kind].port))],
  [/(?:PASS|PASSWORD|PASSWD|PWD)$/, ({ credentials }) => credentials.password],
  [/(?:USER|USERNAME|LOGIN)$/, ({ kind }) => new Secret(kind === 'redis' ? 'default' : appUser)],
  [/(?:^|_)(?:JDBC|DATASOURCE)_(?:.*_)?UR[LI]$/, jdbcUrl],
  [/(?:URL|URI|DSN|CONN|STRING|STR|PRISMA|POOLING)$/, urlOf],
  [/(?:NAME|DB|DATABASE)$/, ({ kind }) => new Secret(kind === 'redis' ? '0' : appDatabase)],
];

function partOf(service: OpenService, key: string): Secret | undefined {
  return parts.find(([pattern]) => pattern.test(key.toUpperCase()))?.[1](service);
}

function urlOf({ kind, name, credentials }: OpenService): Secret {
  return kinds[kind].url(name, credentials);
}

/** Java's drivers take user and password apart from it. */
function jdbcUrl({ kind, name }: OpenService): Secret {
  const scheme = kind === 'postgres' ? 'postgresql' : kind;
  return new Secret(`jdbc:${scheme}://${name}:${kinds[kind].port}/${appDatabase}`);
}
