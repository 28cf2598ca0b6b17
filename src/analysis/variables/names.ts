/** What the name of a variable tells about the service behind it, word by word. Secrets and the like: `resolve/`. */
import type { ServiceKind } from '../result.ts';

export function isKey(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name);
}

/** As written in code, where other strings stand beside names: upper case, at least two letters. */
export function isConstantKey(name: string): boolean {
  return /^[A-Z_][A-Z0-9_]{1,127}$/.test(name) && /[A-Z]{2}/.test(name);
}

export interface ServiceName {
  /** `database` where the name says no more than that. */
  readonly kind: ServiceKind | 'database';
  readonly part: 'url' | 'host' | 'password' | 'other';
}

const kinds: readonly (readonly [RegExp, ServiceName['kind']])[] = [
  [/^(?:REDIS|REDISCLOUD|REDISTOGO|VALKEY|KEYDB|IOREDIS)$/, 'redis'],
  [/^(?:MONGO|MONGODB|MONGOOSE)$/, 'mongodb'],
  [/^(?:MARIADB|MARIA)$/, 'mariadb'],
  [/^(?:MYSQL|JAWSDB|CLEARDB)$/, 'mysql'],
  [/^(?:POSTGRES|POSTGRESQL|PG|PGSQL|PSQL)$/, 'postgres'],
];
const parts: readonly (readonly [RegExp, ServiceName['part']])[] = [
  [/^(?:URL|URI|DSN|CONN|CONNECTIONSTRING|STRING|CONNSTRING|STR|PRISMA|POOLING)$/, 'url'],
  [/^(?:HOST|HOSTNAME|SERVER|ADDR|ADDRESS|ENDPOINT|HOSTS)$/, 'host'],
  [/^(?:PASS|PASSWORD|PASSWD|PWD)$/, 'password'],
  [/^(?:PORT|USER|USERNAME|NAME|DB|DATABASE|DBNAME|LOGIN)$/, 'other'],
];
/** Sold elsewhere and spoken to over HTTPS; no service of ours can stand in. */
const elsewhere =
  /(?:^|_)(?:UPSTASH|REST|SUPABASE|TURSO|LIBSQL|FIREBASE|SQLITE|NEO4J|INFLUX|CLICKHOUSE|PUBLIC)(?:_|$)/;

/** Which service a variable has the address of, or a part of it. `DB_POOL_SIZE` is none. */
export function serviceOf(name: string): ServiceName | undefined {
  const upper = name.toUpperCase();
  if (elsewhere.test(upper)) return undefined;
  const glued = /^(PG|MYSQL|MONGO|REDIS)(HOST|PORT|USER|PASSWORD|DATABASE)$/.exec(upper);
  const words = glued ? [glued[1] ?? '', glued[2] ?? ''] : upper.split('_').filter(Boolean);
  const part = parts.find(([pattern]) => pattern.test(words.at(-1) ?? ''))?.[1];
  if (part === undefined) return undefined;
  for (const [pattern, kind] of kinds) if (words.some((word) => pattern.test(word))) return { kind, part };
  const isNamed = words
    .slice(0, -1)
    .some((word) => /^(?:DATABASE|DB|DATASOURCE|SQLALCHEMY|JDBC)$/.test(word));
  const isDirect = /^(?:DIRECT_URL|CONNECTION_STRING)$/.test(upper);
  return isNamed || isDirect ? { kind: 'database', part } : undefined;
}
