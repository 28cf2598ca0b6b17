import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkDueServers } from '../../src/areas/servers/check-servers.ts';
import { sql } from '../../src/store/sql.ts';
import { masterKeys, migratedDatabase, newWorkspace } from '../support/database.ts';
import { openLab } from '../support/lab.ts';
import { proveReach } from '../support/reach-proof.ts';
import { connect, pinOf } from '../support/remote.ts';
import { addServer, serversContext } from '../support/servers-context.ts';

const lab = await openLab();

test('applications and builds reach nothing that they have no business with', async (t) => {
  const server = await lab.shared('provisioned');
  await proveReach(t, server, connect(t, server), 'some');
});

test('whoever flushed the rules, or had a server from before them, has them again within a minute', async (t) => {
  const server = await lab.shared('provisioned');
  const own = await migratedDatabase(t);
  const ctx = await serversContext(t, own, masterKeys(1));
  const workspaceId = await newWorkspace(own.db);
  const { id, publicKey } = await addServer(ctx, workspaceId, {
    host: server.about.address,
    hostKey: pinOf(server),
  });
  await server.ssh('cat >> /root/.ssh/authorized_keys', `${publicKey}\n`);
  const chain = 'nft list table inet slipway_apps';
  await server.ssh('nft delete table inet slipway_apps; rm /etc/slipway/app-network.nft');
  await checkDueServers(ctx);
  assert.notEqual((await server.trySsh(chain)).code, 0, 'one that is not ready is left alone');

  const now = ctx.clock.now();
  await own.db.run(
    sql`update servers set status = 'ready', provisioned_at = ${now}, check_at = ${now} where id = ${id}`,
  );
  await checkDueServers(ctx);
  assert.match(await server.ssh(chain), /ip saddr 198\.18\.0\.0\/15/);
});
