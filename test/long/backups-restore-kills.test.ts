import { test } from 'node:test';
import { madeBackup, restoreTrial, startBackupWorld, tryEverything } from '../support/backup-world.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();

test('a restore that fails, repeats itself or is killed anywhere leaves the old data or the new, never a mixture', async (t) => {
  const world = await startBackupWorld(t, lab);
  await world.set('one');
  await tryEverything(world.bench, restoreTrial(world, await madeBackup(world)));
});
