import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { backupKind } from '../../src/areas/backups/backups.ts';
import type { BackupId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import { startBackupWorld, tryEverything } from '../support/backup-world.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();

test('a backup that fails, repeats itself or is killed after any step’s work is whole and verified, or has left nothing', async (t) => {
  const world = await startBackupWorld(t, lab);
  const { bench, db, environmentId, objects } = world;
  await world.set('one');
  let backupId: BackupId;
  await tryEverything(bench, {
    kind: backupKind,
    steps: ['look', 'dump', 'store', 'verify'],
    afterWorkOnly: true,
    begin: async () => {
      await db.run(sql`delete from backups`);
      rmSync(world.folder, { recursive: true, force: true });
      backupId = await world.newBackup();
      return { input: { backupId, environmentId } };
    },
    check: async (how, what) => {
      const rows = await db.rows<{ status: string; isVerified: boolean; code: string | null }>(sql`
        select status, verified_at is not null as "isVerified", fault->>'code' as code from backups`);
      const expected =
        how === 'succeeded'
          ? { status: 'succeeded', isVerified: true, code: null }
          : { status: 'failed', isVerified: false, code: 'bad_request' };
      assert.deepEqual(rows, [expected], what);
      assert.equal(objects().length, how === 'succeeded' ? 2 : 0, what);
      assert.equal(await world.leftovers(), '', what);
      assert.equal(await world.get(), 'one one', what);
    },
  });
});
