/** MongoDB: not proven yet. Its data goes up one major version at a time. */
import { Secret } from '../../../secret.ts';
import { appDatabase, appUser, type Kind, oneStepUp, takesFolderOver } from './kind.ts';

const versions = ['6.0', '7.0', '8.0'];

export const mongodb: Kind = {
  kind: 'mongodb',
  title: 'MongoDB',
  isExperimental: true,
  versions,
  defaultVersion: '8.0',
  image: 'mongo',
  port: 27017,
  memoryMb: { least: 512, standard: 1024 },
  stopSeconds: 120,
  capabilities: takesFolderOver,
  volumePath: () => '/data/db',
  environment: ({ password }) =>
    new Map([
      ['MONGO_INITDB_ROOT_USERNAME', new Secret(appUser)],
      ['MONGO_INITDB_ROOT_PASSWORD', password],
      ['MONGO_INITDB_DATABASE', new Secret(appDatabase)],
    ]),
  // Half of what is left beside its own needs; a quarter of a gigabyte is the least that it takes.
  command: (memoryMb) => [
    'mongod',
    '--wiredTigerCacheSizeGB',
    Math.max(0.25, (memoryMb - 256) / 2048).toFixed(2),
  ],
  // The answer is a message of the kind 2013 (`OP_MSG`), as the question.
  health: () => ({ send: hello(), expect: '^.{12}\\xdd\\x07\\x00\\x00', maxBytes: 16 }),
  variables: ['MONGODB_URL', 'MONGO_URL', 'DATABASE_URL'],
  url: (host, { password }) =>
    new Secret(`mongodb://${appUser}:${password.reveal()}@${host}:27017/${appDatabase}?authSource=admin`),
  change: oneStepUp('MongoDB', versions),
};

/** `{hello: 1, $db: "admin"}`, which needs no login. */
function hello(): Buffer {
  const fields = Buffer.concat([
    Buffer.from('\x10hello\0\x01\0\0\0', 'latin1'),
    Buffer.from('\x02$db\0\x06\0\0\0admin\0', 'latin1'),
  ]);
  const document = Buffer.alloc(4 + fields.length + 1);
  document.writeInt32LE(document.length, 0);
  fields.copy(document, 4);
  const head = Buffer.alloc(21);
  head.writeInt32LE(head.length + document.length, 0);
  head.writeInt32LE(1, 4);
  head.writeInt32LE(2013, 12);
  return Buffer.concat([head, document]);
}
