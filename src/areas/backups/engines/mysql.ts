/** The engine of MySQL: as MariaDB's, by MySQL's names. Not proven against the real image yet. */
import { mysqlFamilyEngine } from './sql-mysql-family.ts';
import { dumpOptions } from './sql-mysql-scripts.ts';

/** Its own lock for backups lets transactions commit; the old one does not, but waits for statements under way. */
export const mysqlEngine = mysqlFamilyEngine('mysql', 'mysqldump', {
  client: 'mysql',
  dump: 'mysqldump',
  prefix: 'MYSQL',
  options: `${dumpOptions} --set-gtid-purged=OFF --column-statistics=0`,
  lock: 'FLUSH TABLES WITH READ LOCK;',
  unlock: 'UNLOCK TABLES;',
});
