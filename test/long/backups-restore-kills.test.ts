import { test } from 'node:test';
import { madeBackup, restoreTrial, startBackupWorld, tryEverything } from '../support/backup-world.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();

test('a restore that fails, repeats itself or is killed after any step’s work leaves the old data or the new, never a mixture', async (t) => {
  const world = await startBackupWorld(t, lab);
  await world.set('one');
  const trial = restoreTrial(world, await madeBackup(world));
  await tryEverything(world.bench, { ...trial, afterWorkOnly: true });
});
