/** The engine of each kind of data. */
import type { Engine, SourceKind } from './engine.ts';
import { mariadbEngine } from './mariadb.ts';
import { mongodbEngine } from './mongodb.ts';
import { mysqlEngine } from './mysql.ts';
import { postgresEngine } from './postgres.ts';
import { redisEngine } from './redis.ts';
import { volumeEngine } from './volume.ts';

const engines: Readonly<Record<SourceKind, Engine>> = {
  postgres: postgresEngine,
  mariadb: mariadbEngine,
  mysql: mysqlEngine,
  redis: redisEngine,
  mongodb: mongodbEngine,
  volume: volumeEngine,
};

export function engineFor(kind: SourceKind): Engine {
  return engines[kind];
}
