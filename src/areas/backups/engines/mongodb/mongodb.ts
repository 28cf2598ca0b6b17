/**
 * The engine of MongoDB: experimental, it has not been proven against the real image. As with MySQL, what is loaded is
 * a data folder of its own, made by a scratch server: collections cannot move to another database in one step.
 */
import { databaseEngine, waitUntilReady } from '../database-engine.ts';
import { inContainer } from '../dump.ts';
import { unitOf } from '../run-unit.ts';
import { copyVolume, discardVolume, swapVolumes } from '../swap-volumes.ts';
import {
  mongodbDumpScript,
  mongodbLoadScript,
  mongodbReadyScript,
  mongodbVerifyScript,
} from './mongodb-scripts.ts';

export const mongodbEngine = databaseEngine({
  kind: 'mongodb',
  format: 'mongodump archive',
  tool: 'mongodump',
  dumpArgv: ({ container }) => inContainer(container, mongodbDumpScript),
  verifyScratch: {},
  verifyScript: (_source, scratch, path) => ({
    script: mongodbVerifyScript,
    args: [scratch, path],
    halt: 'docker kill "$1" >/dev/null',
  }),
  // Its tools have no shell, and its accounts can only be made with the password itself.
  loadScratch: ({ volume, credentials }, { staging }) => ({
    id: staging,
    name: unitOf('load', staging),
    volume: copyVolume(volume, staging),
    keepsVolume: true,
    credentials,
  }),
  loadScript: ({ container }, scratch, path, { base }) => ({
    script: mongodbLoadScript,
    args: [container, scratch, path, base],
    halt: 'docker kill "$2" >/dev/null',
  }),
  discard: (host, { volume }, name) => discardVolume(host, volume, name),
  swap: async (host, source, names) => {
    await swapVolumes(host, source, names);
    await waitUntilReady(host, { script: mongodbReadyScript, args: [source.container] });
  },
});
