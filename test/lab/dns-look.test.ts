import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { createDns, type DomainToCheck } from '../../src/adapters/dns/dns.ts';
import { kindOfAddress } from '../../src/adapters/egress/address-kinds.ts';
import { codesOf, find } from '../support/dns-scene.ts';
import { openLab } from '../support/lab.ts';

/** A zone of this test alone, at the lab's name server, which is resolver and authority in one. */
async function openZone(t: TestContext) {
  const { client, about } = await openLab();
  const zone = `z${randomBytes(4).toString('hex')}.test`;
  const hostname = `app.${zone}`;
  const record = { name: `_slipway.${hostname}`, value: 'right' };
  const [server] = about.servers;
  assert.ok(server);
  await client.call('POST', '/dns/zones', { zone });
  const set = (name: string, type: string, values: readonly string[], ttl = 60) =>
    client.call('PUT', '/dns', { name, type, values, ttl });
  const remove = (name: string) => client.call('DELETE', `/dns?name=${encodeURIComponent(name)}`);
  const remember = (name: string, type: string, values: readonly string[], ttl: number) =>
    client.call('PUT', '/dns/remembered', { name, type, values, ttl });
  const forget = (name: string) => client.call('DELETE', `/dns/remembered?name=${encodeURIComponent(name)}`);
  const fail = (name: string, fault: string | null) => client.call('PUT', '/dns/faults', { name, fault });
  t.after(async () => {
    for (const name of [hostname, record.name, zone]) {
      await fail(name, null);
      await forget(name);
      await remove(name);
    }
  });
  const dns = createDns({
    servers: [`${about.dns.address}:${about.dns.port}`],
    allowPrivate: true,
    kindOfAddress,
    timeoutMs: 2_000,
  });
  const look = (domain: Partial<DomainToCheck> = {}) =>
    dns.checkDomain(
      { hostname, record, serverAddresses: [server.address], authority: ['ca.lab.test'], ...domain },
      t.signal,
    );
  return { zone, hostname, record, address: server.address, set, remove, remember, forget, fail, look };
}

test('a domain at the lab’s name server goes from nothing to proven, and is told what is missing on the way', async (t) => {
  const { zone, hostname, record, address, set, look } = await openZone(t);
  const empty = await look();
  assert.equal(empty.zone, zone);
  assert.deepEqual(codesOf(empty), ['address_missing', 'caa_allows', 'record_missing']);
  await set(record.name, 'TXT', ['wrong']);
  await set(hostname, 'A', ['192.0.2.77']);
  await set(zone, 'CAA', ['0 issue "elsewhere.test"']);
  const wrong = await look();
  assert.deepEqual(codesOf(wrong), ['address_elsewhere', 'address_private', 'caa_forbids', 'record_wrong']);
  await set(record.name, 'TXT', ['right']);
  await set(hostname, 'A', [address]);
  await set(zone, 'CAA', ['0 issue "ca.lab.test"']);
  const right = await look();
  assert.equal(right.isProven, true);
  assert.deepEqual(codesOf(right), ['address_found', 'caa_allows', 'record_found']);
});

test('what the lab’s resolver remembers, refuses or cannot answer has findings of its own', async (t) => {
  const { hostname, record, address, set, remember, forget, fail, look } = await openZone(t);
  await set(record.name, 'TXT', ['right']);
  await set(hostname, 'A', [address]);
  await remember(record.name, 'TXT', ['old'], 600);
  await remember(hostname, 'A', ['192.0.2.78'], 1200);
  const behind = await look();
  assert.equal(behind.isProven, true);
  assert.match(find(behind, 'record_not_propagated').message, /the old value for up to 10 minutes/);
  assert.match(find(behind, 'address_not_propagated').message, /192\.0\.2\.78 for up to 20 minutes/);
  await forget(record.name);
  await forget(hostname);
  await fail(record.name, 'bogus');
  const bogus = await look();
  assert.equal(bogus.isProven, false);
  assert.equal(find(bogus, 'dnssec_broken').severity, 'error');
  await fail(record.name, 'timeout');
  assert.ok(codesOf(await look()).includes('name_server_silent'));
  await fail(record.name, null);
  assert.equal((await look()).isProven, true);
});
