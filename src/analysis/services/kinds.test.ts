import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Repository } from '../repository.ts';
import { dependenciesOf } from './dependencies.ts';
import { kindsOfDriver } from './kinds.ts';

test('A driver is known by a word of its name, in every ecosystem', () => {
  const expected: Record<string, readonly string[]> = {
    postgres: [
      'pg',
      '@fastify/postgres',
      'psycopg2-binary',
      'asyncpg',
      'github.com/jackc/pgx/v5',
      'github.com/lib/pq',
      'Npgsql.EntityFrameworkCore.PostgreSQL',
      'postgrex',
      'quarkus-jdbc-postgresql',
      'sqlx postgres',
      '@prisma/adapter-pg',
      'ext-pdo_pgsql',
      '@payloadcms/db-postgres',
    ],
    mysql: [
      'mysql2',
      'PyMySQL',
      'mysqlclient',
      'github.com/go-sql-driver/mysql',
      'MySql.Data',
      'mysql-connector-j',
      'myxql',
      'trilogy',
    ],
    mariadb: ['mariadb', 'mariadb-java-client'],
    mongodb: [
      'mongoose',
      'mongodb',
      'pymongo',
      'motor',
      'go.mongodb.org/mongo-driver',
      'MongoDB.Driver',
      'mongoid',
      'connect-mongo',
    ],
    redis: [
      'ioredis',
      'bullmq',
      'celery[redis]',
      'predis/predis',
      'StackExchange.Redis',
      'Microsoft.Extensions.Caching.StackExchangeRedis',
      'sidekiq',
      'spring-boot-starter-data-redis',
      'connect-redis',
    ],
    sqlite: [
      'better-sqlite3',
      'sqlite3',
      'github.com/mattn/go-sqlite3',
      'Microsoft.EntityFrameworkCore.Sqlite',
      '@libsql/client',
    ],
  };
  for (const [kind, names] of Object.entries(expected))
    for (const name of names) assert.deepEqual(kindsOfDriver(name), [kind], name);
});

test('What only looks like a driver is none', () => {
  for (const name of [
    '@types/pg',
    'mongodb-memory-server',
    'ioredis-mock',
    'pg-mem',
    '@upstash/redis',
    '@opentelemetry/instrumentation-pg',
    'express',
    'testcontainers[postgres]',
    '@supabase/postgrest-js',
    'postgrest',
  ])
    assert.deepEqual(kindsOfDriver(name), [], name);
});

test('Dependencies for tests and development are left out, whatever the manifest is written in', () => {
  const manifests: readonly (readonly [file: string, text: string, names: readonly string[]])[] = [
    [
      'Gemfile',
      "gem 'pg'\ngroup :development, :test do\n  gem 'mysql2'\nend\ngem 'redis', group: :test\ngem 'puma'\n",
      ['pg', 'puma'],
    ],
    [
      'go.mod',
      'require (\n\tgithub.com/a/b v1.0.0\n\tgithub.com/c/d v1.0.0 // indirect\n)\n',
      ['github.com/a/b'],
    ],
    [
      'build.gradle',
      "implementation 'org.a:b:1'\ntestImplementation 'org.c:d:1'\nruntimeOnly(\"org.e:f\")\n",
      ['b', 'f'],
    ],
    ['mix.exs', '{:postgrex, ">= 0.0.0"},\n{:redix, "~> 1.0", only: :test},\n', ['postgrex']],
    [
      'requirements.txt',
      'psycopg[binary]>=3\n# redis\n-r base.txt\nflask==3.0\n',
      ['psycopg[binary]', 'flask'],
    ],
    ['setup.py', "setup(install_requires=['psycopg2'], extras_require={'dev': ['redis']})\n", ['psycopg2']],
    [
      'pom.xml',
      '<project><dependencies><dependency><artifactId>a</artifactId></dependency><dependency><artifactId>b</artifactId><scope>test</scope></dependency></dependencies></project>',
      ['a'],
    ],
  ];
  for (const [path, text, names] of manifests) {
    const contents = new Map([[path, Buffer.from(text)]]);
    const repository = new Repository([{ path, type: 'file', size: text.length }], contents);
    assert.deepEqual(
      dependenciesOf(repository).map(({ name }) => name),
      names,
      path,
    );
  }
});
