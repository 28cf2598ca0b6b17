/**
 * The engines of MariaDB and MySQL. A dump is one InnoDB snapshot. Neither can rename a database, so what is loaded is
 * a whole data folder of its own, made by a scratch server in a second volume; the volumes are swapped while the service
 * is stopped. What an upload does in there reaches nothing else. MySQL's has not been proven against the real image yet.
 */
import { databaseEngine, waitUntilReady } from '../database-engine.ts';
import { inContainer } from '../dump.ts';
import type { Engine } from '../engine.ts';
import { unitOf } from '../run-unit.ts';
import { copyVolume, discardVolume, swapVolumes } from '../swap-volumes.ts';
import { statsBody, statsSettings } from './mysql-content-stats.ts';
import {
  dumpOptions,
  haltLoad,
  haltVerify,
  type MysqlFlavour,
  mysqlDumpScript,
  mysqlLoadScript,
  mysqlReadyScript,
  mysqlVerifyScript,
} from './mysql-scripts.ts';

/** A scratch database need not survive a loss of power. */
const options = ['--skip-log-bin', '--innodb-flush-log-at-trx-commit=0'];

function mysqlEngineOf(kind: 'mariadb' | 'mysql', flavour: MysqlFlavour): Engine {
  const { client, dump, prefix, lock, unlock } = flavour;
  const programs = [client, dump, prefix];
  // To load the names of time zones takes longer than all the rest: a verification needs none, a load copies the live ones.
  const variables = { [`${prefix}_INITDB_SKIP_TZINFO`]: '1' };
  return databaseEngine({
    kind,
    format: dump,
    tool: dump,
    dumpArgv: ({ container }) => {
      const args = [...programs, flavour.options, lock, unlock, statsSettings, statsBody];
      return inContainer(container, mysqlDumpScript, args);
    },
    verifyScratch: { options, variables },
    verifyScript: (_source, scratch, path) => ({
      script: mysqlVerifyScript,
      args: [...programs, scratch, path, `${statsSettings}${statsBody}`],
      halt: haltVerify,
    }),
    loadScratch: ({ volume }, { staging }) => ({
      id: staging,
      name: unitOf('load', staging),
      volume: copyVolume(volume, staging),
      keepsVolume: true,
      options,
      variables,
    }),
    loadScript: ({ container }, scratch, path, { base, content }) => ({
      script: mysqlLoadScript,
      args: [...programs, flavour.options, container, scratch, path, base, content],
      halt: haltLoad,
    }),
    discard: (host, { volume }, name) => discardVolume(host, volume, name),
    swap: async (host, source, names) => {
      await swapVolumes(host, source, names);
      await waitUntilReady(host, { script: mysqlReadyScript, args: [...programs, source.container] });
    },
  });
}

/** BACKUP STAGE holds up commits alone: it neither waits for long queries nor stops those who read. */
export const mariadbEngine = mysqlEngineOf('mariadb', {
  client: 'mariadb',
  dump: 'mariadb-dump',
  prefix: 'MARIADB',
  options: dumpOptions,
  lock: 'BACKUP STAGE START; BACKUP STAGE FLUSH; BACKUP STAGE BLOCK_DDL; BACKUP STAGE BLOCK_COMMIT;',
  unlock: 'BACKUP STAGE END;',
});

/** Its own lock for backups lets transactions commit; this one does not, but waits for statements under way. */
export const mysqlEngine = mysqlEngineOf('mysql', {
  client: 'mysql',
  dump: 'mysqldump',
  prefix: 'MYSQL',
  options: `${dumpOptions} --set-gtid-purged=OFF --column-statistics=0`,
  lock: 'FLUSH TABLES WITH READ LOCK;',
  unlock: 'UNLOCK TABLES;',
});
