/** MariaDB. Goes upwards: the image upgrades its own tables when it finds older ones. */
import { Secret } from '../../../secret.ts';
import { appDatabase, appUser, type Kind, onlyUpwards, takesFolderOver } from './kind.ts';
import { greeting } from './mysql.ts';

const versions = ['10.6', '10.11', '11.4', '11.8'];

export const mariadb: Kind = {
  kind: 'mariadb',
  title: 'MariaDB',
  isExperimental: false,
  versions,
  defaultVersion: '11.8',
  image: 'mariadb',
  port: 3306,
  memoryMb: { least: 128, standard: 512 },
  stopSeconds: 120,
  capabilities: takesFolderOver,
  volumePath: () => '/var/lib/mysql',
  environment: ({ password, adminPassword }) =>
    new Map([
      ['MARIADB_USER', new Secret(appUser)],
      ['MARIADB_DATABASE', new Secret(appDatabase)],
      ['MARIADB_PASSWORD', password],
      ['MARIADB_ROOT_PASSWORD', adminPassword],
      ['MARIADB_ROOT_HOST', new Secret('localhost')],
      ['MARIADB_AUTO_UPGRADE', new Secret('1')],
      // The copy of the system tables that it would make first fills the volume a little with each upgrade.
      ['MARIADB_DISABLE_UPGRADE_BACKUP', new Secret('1')],
    ]),
  command: (memoryMb) => [
    'mariadbd',
    `--innodb-buffer-pool-size=${Math.max(16, Math.floor(memoryMb / 2))}M`,
    '--character-set-server=utf8mb4',
    // With its cache of hosts it would shut us out after a hundred health checks that did not log in.
    '--skip-name-resolve',
    '--host-cache-size=0',
  ],
  health: () => greeting,
  variables: ['DATABASE_URL', 'MYSQL_URL', 'MARIADB_URL'],
  // The scheme that drivers know for both.
  url: (host, { password }) =>
    new Secret(`mysql://${appUser}:${password.reveal()}@${host}:3306/${appDatabase}`),
  change: onlyUpwards('MariaDB', versions),
};
