import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importKind } from '../../src/areas/backups/backups.ts';
import { insertRestore, setUploaded } from '../../src/areas/backups/restore/restore-queries.ts';
import { type BackupRestoreId, newId } from '../../src/ids.ts';
import { startBackupWorld, tryEverything } from '../support/backup-world.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();

test('an import that fails, repeats itself or is killed anywhere is done wholly, or not at all', async (t) => {
  const world = await startBackupWorld(t, lab);
  const { bench, db, workspaceId, environmentId, serverId, main, server } = world;
  await tryEverything(bench, {
    kind: importKind,
    afterWorkOnly: true,
    steps: ['check', 'safety', 'stop', 'load', 'swap', 'start'],
    begin: async () => {
      await world.dropReplaced();
      await world.set('two');
      const restoreId = newId<BackupRestoreId>();
      const file = "update kept set value = 'three';\n";
      const path = `/var/lib/slipway/backups/${restoreId}`;
      await server.ssh(`umask 077; mkdir -p ${path}; cat > ${path}/upload`, file);
      const row = { id: restoreId, environmentId, source: 'upload', backupId: null } as const;
      await insertRestore(
        db,
        workspaceId,
        { ...row, serviceId: main, serverId, status: 'uploading' },
        new Date(),
      );
      await setUploaded(db, workspaceId, restoreId, file.length);
      return { input: { restoreId, environmentId, safetyBackup: true }, serverId, queueKey: environmentId };
    },
    check: async (how, what) => {
      assert.equal(await world.get(), how === 'succeeded' ? 'three two' : 'two two', what);
      assert.equal(await world.leftovers(), '', what);
    },
  });
});
