import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { masterKeys, migratedDatabase, newWorkspace } from '../../../test/support/database.ts';
import { addServer, serversContext } from '../../../test/support/servers-context.ts';
import { after, hour, minute } from '../../clock.ts';
import { sql } from '../../store/sql.ts';
import { securitySchedule } from './check-security.ts';

/** Hangs up on whoever comes, and counts them. */
async function doorstep(t: TestContext): Promise<{ port: number; visits: () => number }> {
  let visits = 0;
  const server = createServer((socket) => {
    visits += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('it does not listen');
  return { port: address.port, visits: () => visits };
}

test('every ready server is looked at twice a day, whatever becomes of the others', async (t) => {
  const own = await migratedDatabase(t);
  const ctx = await serversContext(t, own, masterKeys(1));
  const workspaceId = await newWorkspace(own.db);
  const now = ctx.clock.now();
  const cases = [
    { checkedAt: null, status: 'ready', isDue: true },
    { checkedAt: after(now, -12 * hour - minute), status: 'ready', isDue: true },
    { checkedAt: after(now, -12 * hour + minute), status: 'ready', isDue: false },
    { checkedAt: null, status: 'unreachable', isDue: false },
    { checkedAt: null, status: 'host_key_changed', isDue: false },
    { checkedAt: null, status: 'pending', isDue: false },
  ];
  const doors = await Promise.all(
    cases.map(async ({ checkedAt, status }) => {
      const door = await doorstep(t);
      const hostKey = `SHA256:${'A'.repeat(43)}`;
      const { id } = await addServer(ctx, workspaceId, { host: '127.0.0.1', port: door.port, hostKey });
      await own.db.run(sql`
        update servers set status = ${status}, security_checked_at = ${checkedAt} where id = ${id}`);
      return door;
    }),
  );
  await securitySchedule(ctx).run();
  assert.deepEqual(
    doors.map(({ visits }) => visits() > 0),
    cases.map(({ isDue }) => isDue),
  );
});

test('what goes wrong with us is not taken for the server’s', async (t) => {
  const own = await migratedDatabase(t);
  const ctx = await serversContext(t, own, masterKeys(1));
  const workspaceId = await newWorkspace(own.db);
  const { id } = await addServer(ctx, workspaceId, { host: '127.0.0.1', port: 1, hostKey: 'SHA256:x' });
  await own.db.run(sql`update servers set status = 'ready' where id = ${id}`);
  const pool = {
    to: () => {
      throw new Error('ours');
    },
    drop: () => undefined,
    close: async () => undefined,
  };
  await assert.rejects(securitySchedule({ ...ctx, pool }).run(), /ours/);
});
