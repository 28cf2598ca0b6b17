/** Which service a name means: of a driver, an ORM's dialect, an adapter. By words, so that new wrappers are known. */
import { serviceKinds } from '../result.ts';

/** `sqlite` is no service: it is a file. */
const databaseKinds = [...serviceKinds, 'sqlite'] as const;
export type DatabaseKind = (typeof databaseKinds)[number];

const words: Readonly<Record<DatabaseKind, ReadonlySet<string>>> = {
  postgres: set(
    'postgres postgresql pg pgsql postgrex psycopg psycopg2 psycopg3 asyncpg aiopg pg8000 npgsql pgx pq pgvector pgdriver pgdialect epgsql hasql pog pgo tpgsql postgis pgjdbc pogo slonik postgraphile',
  ),
  mysql: set(
    'mysql mysql2 mysqlclient pymysql aiomysql asyncmy myxql mysqlconnector trilogy mysqldialect mymysql',
  ),
  mariadb: set('mariadb'),
  mongodb: set(
    'mongodb mongo mongoose mongoid pymongo motor beanie mongoengine mgo odmantic typegoose mongodm mongokitten monk congomongo monger',
  ),
  redis: set(
    'redis ioredis redix hiredis aioredis predis jedis lettuce valkey sidekiq resque bull bullmq rq arq redigo rueidis asynq exredis carmine phpredis kue redisson redistogo eredis iovalkey',
  ),
  sqlite: set('sqlite sqlite3 aiosqlite libsql rusqlite exqlite sqlitedialect'),
};

/** What only looks like a driver: for tests and types, parsers, pages to look into a database, services over HTTPS. */
const notDrivers = set(
  'types mock mocks mem memory fake stub embedded testcontainers test testing eslint prettier parser instrumentation upstash exporter codemirror monaco simulator devtools board dashboard lint ast',
);

function set(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}

/** Of a dependency by its whole name: `@fastify/postgres`, `celery[redis]`, `Npgsql.EntityFrameworkCore.PostgreSQL`. */
export function kindsOfDriver(name: string): readonly DatabaseKind[] {
  const plain = name.slice(0, 200);
  const parts = new Set(wordsOf(plain));
  for (const part of parts) if (notDrivers.has(part)) return [];
  return kindsNaming(words, (names) => [...parts].some((part) => names.has(part)));
}

function kindsNaming(
  all: Readonly<Record<DatabaseKind, ReadonlySet<string>>>,
  isNamed: (names: ReadonlySet<string>) => boolean,
): readonly DatabaseKind[] {
  return databaseKinds.filter((kind) => isNamed(all[kind]));
}

/** As it is and split at capitals: `MySql.Data` is mysql, `StackExchangeRedis` ends in redis. */
function wordsOf(name: string): readonly string[] {
  const whole = name.toLowerCase().split(/[^a-z0-9]+/);
  const split = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return [...whole, ...split].filter(Boolean);
}

const dialects: Readonly<Record<DatabaseKind, ReadonlySet<string>>> = {
  postgres: set('postgres postgresql postgis pg pgsql cockroachdb aurora-postgres'),
  mysql: set('mysql mysql2 trilogy'),
  mariadb: set('mariadb'),
  mongodb: set('mongodb mongo'),
  redis: set('redis ioredis'),
  sqlite: set('sqlite sqlite3 better-sqlite3 better-sqlite libsql turso'),
};

/** As the value of `dialect`, `provider`, `client`, `adapter`, `DB_CONNECTION`. */
export function kindOfDialect(name: unknown): DatabaseKind | undefined {
  if (typeof name !== 'string') return undefined;
  const plain = name.trim().toLowerCase();
  return kindsNaming(dialects, (names) => names.has(plain))[0];
}
