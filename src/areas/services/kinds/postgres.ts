/** PostgreSQL. Another major version cannot read the data: that takes a dump. */
import { Secret } from '../../../secret.ts';
import { appDatabase, appUser, type Kind, majorOf, onlySameMajor, takesFolderOver } from './kind.ts';

export const postgres: Kind = {
  kind: 'postgres',
  title: 'PostgreSQL',
  isExperimental: false,
  versions: ['14', '15', '16', '17', '18'],
  defaultVersion: '17',
  image: 'postgres',
  port: 5432,
  memoryMb: { least: 64, standard: 512 },
  stopSeconds: 120,
  capabilities: takesFolderOver,
  // From 18 on the image keeps each major version in a folder of its own below this one.
  volumePath: (version) => (majorOf(version) >= 18 ? '/var/lib/postgresql' : '/var/lib/postgresql/data'),
  environment: ({ password }) =>
    new Map([
      ['POSTGRES_USER', new Secret(appUser)],
      ['POSTGRES_DB', new Secret(appDatabase)],
      ['POSTGRES_PASSWORD', password],
    ]),
  command: (memoryMb) => [
    'postgres',
    ...['-c', `shared_buffers=${Math.max(16, Math.floor(memoryMb / 4))}MB`],
    ...['-c', `effective_cache_size=${Math.max(32, Math.floor((memoryMb * 3) / 4))}MB`],
    ...['-c', `maintenance_work_mem=${Math.max(16, Math.floor(memoryMb / 16))}MB`],
    // A container's /dev/shm has 64 MB: parallel queries over large tables would fail there.
    ...['-c', 'dynamic_shared_memory_type=mmap'],
  ],
  health: () => ({ send: startupMessage(), expect: '^R', maxBytes: 9 }),
  variables: ['DATABASE_URL', 'POSTGRES_URL'],
  url: (host, { password }) =>
    new Secret(`postgresql://${appUser}:${password.reveal()}@${host}:5432/${appDatabase}`),
  change: onlySameMajor('PostgreSQL'),
};

/** As `pg_isready` begins: a server that is ready asks for the password (`R`), one that starts up sends an error. */
function startupMessage(): Buffer {
  const words = Buffer.from(`user\0${appUser}\0database\0${appDatabase}\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(8 + words.length, 0);
  head.writeInt32BE(3 << 16, 4);
  return Buffer.concat([head, words]);
}
