/** MySQL: on the same terms as MariaDB, but not proven yet. */
import { Secret } from '../../../secret.ts';
import { appDatabase, appUser, type Kind, oneStepUp, takesFolderOver } from './kind.ts';

const versions = ['8.0', '8.4'];

/** It speaks first: a packet of protocol 10. A server that refuses sends an error in its place. */
export const greeting: ReturnType<Kind['health']> = {
  send: Buffer.alloc(0),
  expect: '^...\\x00\\x0a',
  maxBytes: 5,
};

export const mysql: Kind = {
  kind: 'mysql',
  title: 'MySQL',
  isExperimental: true,
  versions,
  defaultVersion: '8.4',
  image: 'mysql',
  port: 3306,
  memoryMb: { least: 512, standard: 1024 },
  stopSeconds: 120,
  capabilities: takesFolderOver,
  volumePath: () => '/var/lib/mysql',
  environment: ({ password, adminPassword }) =>
    new Map([
      ['MYSQL_USER', new Secret(appUser)],
      ['MYSQL_DATABASE', new Secret(appDatabase)],
      ['MYSQL_PASSWORD', password],
      ['MYSQL_ROOT_PASSWORD', adminPassword],
      ['MYSQL_ROOT_HOST', new Secret('localhost')],
    ]),
  command: (memoryMb) => [
    'mysqld',
    `--innodb-buffer-pool-size=${Math.floor(memoryMb / 3)}M`,
    ...(memoryMb < 2048 ? ['--performance-schema=OFF'] : []),
    '--skip-name-resolve',
    '--host-cache-size=0',
  ],
  health: () => greeting,
  variables: ['DATABASE_URL', 'MYSQL_URL'],
  url: (host, { password }) =>
    new Secret(`mysql://${appUser}:${password.reveal()}@${host}:3306/${appDatabase}`),
  change: oneStepUp('MySQL', versions),
};
