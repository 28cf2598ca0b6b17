import { test } from 'node:test';
import { madeBackup, restoreTrial, startBackupWorld } from '../support/backup-world.ts';
import { openLab } from '../support/lab.ts';
import { killAtEachWrite } from '../support/operation-trials.ts';

const lab = await openLab();

test('a restore whose process is killed before and after the data changes places ends with the restored data', async (t) => {
  const world = await startBackupWorld(t, lab);
  await world.set('one');
  const trial = restoreTrial(world, await madeBackup(world));
  await killAtEachWrite(world.bench, { ...trial, steps: ['swap'] });
});
