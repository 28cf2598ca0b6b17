/** The engine of each kind of data. */
import type { Engine, SourceKind } from './engine.ts';
import { mongodbEngine } from './mongodb/mongodb.ts';
import { mariadbEngine, mysqlEngine } from './mysql/mysql.ts';
import { postgresEngine } from './postgres/postgres.ts';
import { redisEngine } from './redis/redis.ts';
import { volumeEngine } from './volume/volume.ts';

export const engines: Readonly<Record<SourceKind, Engine>> = {
  postgres: postgresEngine,
  mariadb: mariadbEngine,
  mysql: mysqlEngine,
  redis: redisEngine,
  mongodb: mongodbEngine,
  volume: volumeEngine,
};
