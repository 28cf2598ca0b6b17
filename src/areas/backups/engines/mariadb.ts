/** The engine of MariaDB. */
import { mysqlFamilyEngine } from './sql-mysql-family.ts';
import { dumpOptions } from './sql-mysql-scripts.ts';

/** BACKUP STAGE holds up commits alone: it neither waits for long queries nor stops those who read. */
export const mariadbEngine = mysqlFamilyEngine('mariadb', 'mariadb-dump', {
  client: 'mariadb',
  dump: 'mariadb-dump',
  prefix: 'MARIADB',
  options: dumpOptions,
  lock: 'BACKUP STAGE START; BACKUP STAGE FLUSH; BACKUP STAGE BLOCK_DDL; BACKUP STAGE BLOCK_COMMIT;',
  unlock: 'BACKUP STAGE END;',
});
