import assert from 'node:assert/strict';
import { test } from 'node:test';
import { masterKeys, migratedDatabase, newWorkspace } from '../../../test/support/database.ts';
import { addServer, serversContext } from '../../../test/support/servers-context.ts';
import { minute } from '../../clock.ts';
import { sql } from '../../store/sql.ts';
import { checkDueServers } from './check-servers.ts';

test('a server that is gone is asked less and less often, at least every half hour, and only when it is due', async (t) => {
  const own = await migratedDatabase(t);
  const ctx = await serversContext(t, own, masterKeys(1));
  const workspaceId = await newWorkspace(own.db);
  // Nothing listens there: whatever connects is refused at once.
  const { id } = await addServer(ctx, workspaceId, { host: '127.0.0.1', port: 1 });
  const seen = async () => {
    const row = await own.db.one<{ missed: number; at: Date; problem: { code: string } | null }>(sql`
      select missed, check_at as at, problem from servers where id = ${id}`);
    assert.ok(row);
    return { ...row, pause: (row.at.getTime() - ctx.clock.now().getTime()) / minute };
  };
  const pauses: number[] = [];
  for (let missed = 1; missed <= 7; missed += 1) {
    await checkDueServers(ctx);
    const { pause, ...row } = await seen();
    assert.deepEqual([row.missed, row.problem?.code], [missed, 'port_refused']);
    pauses.push(pause);
    ctx.clock.advance(pause * minute - 1);
    await checkDueServers(ctx);
    assert.equal((await seen()).missed, missed, 'asked before its time');
    ctx.clock.advance(1);
  }
  assert.deepEqual(pauses, [2, 4, 8, 16, 30, 30, 30]);
});
