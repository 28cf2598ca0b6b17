import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { holdMachine } from '../../src/areas/servers/queries.ts';
import type { ServerId, WorkspaceId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import { masterKeys, migratedDatabase, newWorkspace } from '../support/database.ts';
import { openLab } from '../support/lab.ts';
import { newPerson } from '../support/people.ts';
import { assertProblem } from '../support/problems.ts';
import { lastOperation } from '../support/servers.ts';
import { addServer, serversContext } from '../support/servers-context.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

test('whoever is let onto the server of another workspace cannot change or clear it', async (t) => {
  const service = await sharedTestApp();
  const [owner, guest] = [await newPerson(service), await newPerson(service)];
  const server = await lab.fresh(t, 'provisioned');
  const { keyFile, address: host } = server.about;
  assert.ok(keyFile);
  const privateKey = readFileSync(keyFile, 'utf8');
  const register = async (token: string) => {
    const body = { name: 'shared', host, auth: { type: 'key', privateKey } };
    const made = await service.call('POST', '/servers', { token, body });
    assert.equal(made.status, 201, made.text);
    return String(made.body.id);
  };
  const theirs = await register(owner.token);
  assert.equal((await lastOperation(service, owner.token, theirs, 'server_provision')).status, 'succeeded');
  await server.ssh('docker run --detach --name theirs --label slipway=app node:24-slim sleep infinity');
  const running = () => server.ssh('docker ps --no-trunc --quiet | sort; ls /var/lib/slipway/proxy/config');
  const before = await running();

  const mine = await register(guest.token);
  const provisioned = await lastOperation(service, guest.token, mine, 'server_provision');
  assert.equal(provisioned.status, 'failed');
  assert.equal(Object(provisioned.fault).code, 'server_taken');
  const ask = (method: string, path: string, body?: object) =>
    service.call(method, `/servers/${mine}${path}`, { token: guest.token, ...(body && { body }) });
  const shown = await ask('GET', '');
  assert.equal(shown.body.status, 'pending');
  assert.equal(Object(shown.body.problem).code, 'server_taken');
  assertProblem(await ask('POST', '/security/harden', { dryRun: true }), 409, 'server_taken');
  assertProblem(await ask('GET', '/security?refresh=true'), 409, 'server_taken');

  assert.equal((await ask('DELETE', '')).status, 202);
  await until(async () => (await ask('GET', '')).status === 404, 'the guest’s record to be gone');
  assert.equal(await running(), before);

  // Once the one who has it lets go, it is anybody's who can log in.
  const gone = await service.call('DELETE', `/servers/${theirs}?leave=true`, { token: owner.token });
  assert.ok(gone.status < 300, gone.text);
  const next = await register(guest.token);
  assert.equal((await lastOperation(service, guest.token, next, 'server_provision')).status, 'succeeded');
});

test('whoever registers the address of a server without a login cannot keep its owner from it', async (t) => {
  const own = await migratedDatabase(t);
  const servers = await serversContext(t, own, masterKeys(1));
  const { db } = own;
  const at = { host: '192.0.2.7', hostKey: 'SHA256:one-machine' };
  const add = async (): Promise<{ workspaceId: WorkspaceId; id: ServerId }> => {
    const workspaceId = await newWorkspace(db);
    return { workspaceId, id: (await addServer(servers, workspaceId, at)).id };
  };
  await add();
  const both = [await add(), await add()];
  // Logged in at once, one of them has it; neither waits for ever, and neither is answered with a failure.
  const held = await Promise.all(both.map((each) => db.transaction((tx) => holdMachine(tx, each))));
  assert.deepEqual([...held].sort(), [false, true]);
  const again = await Promise.all(both.map((each) => db.transaction((tx) => holdMachine(tx, each))));
  assert.deepEqual(again, held, 'who has it keeps it');
  const holders = await db.rows(sql`select id from servers where holds_machine`);
  assert.equal(holders.length, 1);
});
