/**
 * `npm run rotate-keys`: replaces the master key and every key under it, with the service stopped.
 * A key in the data folder is replaced by a new one; with SLIPWAY_MASTER_KEY, the first key named there takes
 * over from those behind it (`SLIPWAY_MASTER_KEY=new,old`). A kill at any moment leaves both keys usable.
 */
import { randomBytes } from 'node:crypto';
import { readConfig } from './config.ts';
import { errorText, Fault } from './fault.ts';
import { createLog } from './log.ts';
import { Secret } from './secret.ts';
import { MasterKeys, writeKeyFile } from './store/master-keys.ts';
import { rotateKeys } from './store/rotate-keys.ts';
import { openStore } from './store/store.ts';

try {
  const config = readConfig(process.env);
  if (config.masterKeys?.length === 1) {
    const how = 'Set it to the new key and the old one, separated by a comma: SLIPWAY_MASTER_KEY=new,old.';
    throw new Fault(
      'wrong_setting',
      `SLIPWAY_MASTER_KEY names one key, so there is nothing to rotate to. ${how}`,
    );
  }
  const store = await openStore(config, createLog(config.logLevel));
  try {
    await store.ready;
    const { current, all } = store.masterKeys;
    const older = all.map((each) => each.key);
    const next = config.masterKeys ? current.key : new Secret(randomBytes(32));
    const keys = config.masterKeys ? store.masterKeys : new MasterKeys(next, ...older);
    if (!config.masterKeys) writeKeyFile(store.folder.masterKeyFile, [next, ...older]);
    const { owners, values } = await rotateKeys(store.db, keys);
    if (!config.masterKeys) writeKeyFile(store.folder.masterKeyFile, [next]);
    process.stdout.write(
      `The master key is now ${keys.current.id}: ${owners} workspaces and accounts, ${values} sealed values.\n`,
    );
    if (config.masterKeys) process.stdout.write('Remove the old key from SLIPWAY_MASTER_KEY now.\n');
  } finally {
    await store.close();
  }
} catch (error) {
  process.stderr.write(`Slipway: ${errorText(error)}\n`);
  if (!(error instanceof Fault)) throw error;
  process.exitCode = 1;
}
