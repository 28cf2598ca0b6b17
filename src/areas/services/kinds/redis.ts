/** Redis, with its data on disk. Its image takes no password from the environment, and an argument would be in `ps`. */
import { Secret } from '../../../secret.ts';
import { type Kind, onlyUpwards, takesFolderOver } from './kind.ts';

const versions = ['7.2', '7.4', '8.0', '8'];

/** A constant text. The password goes from the environment to standard input, where Redis reads its settings. */
const withPassword = `exec docker-entrypoint.sh redis-server - "$@" << END
requirepass $REDIS_PASSWORD
END
`;

export const redis: Kind = {
  kind: 'redis',
  title: 'Redis',
  isExperimental: false,
  versions,
  defaultVersion: '8',
  image: 'redis',
  port: 6379,
  memoryMb: { least: 64, standard: 256 },
  stopSeconds: 60,
  capabilities: takesFolderOver,
  volumePath: () => '/data',
  environment: ({ password }) => new Map([['REDIS_PASSWORD', password]]),
  entrypoint: ['sh', '-euc', withPassword, 'redis'],
  // A quarter is left for what a rewrite of its files copies meanwhile.
  command: (memoryMb) => [
    ...['--appendonly', 'yes'],
    ...['--dir', '/data'],
    ...['--maxmemory', `${Math.floor((memoryMb * 3) / 4)}mb`],
    ...['--maxmemory-policy', 'noeviction'],
  ],
  health: ({ password }) => ({
    send: Buffer.from(`AUTH ${password.reveal()}\r\nPING\r\nQUIT\r\n`),
    expect: '^\\+OK\\r\\n\\+PONG\\r\\n',
    maxBytes: 200,
  }),
  variables: ['REDIS_URL'],
  // With its user's name: redis-cli takes a URL without one for a user called nothing.
  url: (host, { password }) => new Secret(`redis://default:${password.reveal()}@${host}:6379/0`),
  change: onlyUpwards('Redis', versions),
};
