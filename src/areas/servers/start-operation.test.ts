import assert from 'node:assert/strict';
import { test } from 'node:test';
import { masterKeys, migratedDatabase, newWorkspace } from '../../../test/support/database.ts';
import { addServer, serversContext } from '../../../test/support/servers-context.ts';
import { Fault } from '../../fault.ts';
import { sql } from '../../store/sql.ts';
import { enqueueOnServer, hardenKind, provisionKind, removeServerKind, undoKind } from './start-operation.ts';

test('what would get in each other’s way on a server is refused until the first has ended', async (t) => {
  const own = await migratedDatabase(t);
  const ctx = await serversContext(t, own, masterKeys(1));
  const workspaceId = await newWorkspace(own.db);
  const { id: serverId } = await addServer(ctx, workspaceId, { host: '127.0.0.1', port: 1 });
  const kinds = [provisionKind, hardenKind, undoKind, removeServerKind] as const;
  const start = (kind: (typeof kinds)[number]) =>
    own.db.transaction((tx) => enqueueOnServer(tx, ctx, { workspaceId, serverId, kind, input: {} }));
  const refused: Record<string, string[]> = {};
  for (const first of kinds) {
    refused[first] = [];
    for (const second of kinds) {
      await start(first);
      await start(second).catch((error: unknown) => {
        assert.ok(error instanceof Fault && error.code === 'server_busy', String(error));
        refused[first]?.push(second);
      });
      await own.db.run(
        sql`update operations set state = 'succeeded', finished_at = now() where finished_at is null`,
      );
    }
  }
  assert.deepEqual(refused, {
    [provisionKind]: [provisionKind, removeServerKind],
    [hardenKind]: [hardenKind, undoKind, removeServerKind],
    [undoKind]: [hardenKind, undoKind, removeServerKind],
    [removeServerKind]: kinds,
  });
});
