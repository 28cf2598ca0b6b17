import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, type ServerId } from '../../ids.ts';
import { addressesOf, isNetwork, requireAlike } from './check-members.ts';

const like = (name: string, is: Partial<Parameters<typeof requireAlike>[0][number]> = {}) => ({
  name,
  arch: 'x86_64',
  clockOffsetMs: 0,
  hasVxlan: true,
  ...is,
});
const at = (name: string, loginAddress: string, ...addresses: string[]) => ({
  serverId: newId<ServerId>(),
  name,
  loginAddress,
  addresses,
});

test('servers of two architectures, with clocks apart or without VXLAN are named', () => {
  requireAlike([like('a'), like('b', { clockOffsetMs: 20_000 })]);
  const refused = (...servers: Parameters<typeof requireAlike>[0]) => ({
    by: (code: string, message: RegExp) => assert.throws(() => requireAlike(servers), { code, message }),
  });
  refused(like('a'), like('b', { arch: 'aarch64' })).by(
    'architectures_differ',
    /a is x86_64, and b is aarch64/,
  );
  refused(like('a', { clockOffsetMs: -40_000 }), like('b')).by(
    'clock_wrong',
    /b is 40 s ahead of the one of a/,
  );
  refused(like('a'), like('b', { hasVxlan: false })).by('system_unsupported', /kernel of b has no VXLAN/);
});

test('each member has one address of its own: the one of its login, or the one in the network', () => {
  const one = at('one', '203.0.113.1', '203.0.113.1', '10.0.0.2');
  const two = at('two', '203.0.113.2', '203.0.113.2', '10.0.0.3');
  assert.deepEqual([...addressesOf([one, two], null, []).values()], ['203.0.113.1', '203.0.113.2']);
  assert.deepEqual([...addressesOf([one, two], '10.0.0.0/16', []).values()], ['10.0.0.2', '10.0.0.3']);
  // A member keeps what it has joined with, also where it is logged in to at another address by now.
  const before = [{ serverId: one.serverId, name: 'one', address: '192.0.2.1' }];
  assert.deepEqual([...addressesOf([one, two], null, before).values()], ['192.0.2.1', '203.0.113.2']);
  const refused = (message: RegExp, network: string | null, ...servers: ReturnType<typeof at>[]) =>
    assert.throws(() => addressesOf(servers, network, []), { code: 'server_not_in_network', message });
  refused(/two has no IPv4 address of its own in 10\.1/, '10.1.0.0/16', at('one', '', '10.1.0.1'), two);
  // Behind a translation of addresses, the one that we log in to is none of its own.
  refused(/nat has no IPv4 address of its own at which/, null, at('nat', '203.0.113.9', '10.0.2.15'));
  refused(/six has no IPv4 address/, null, at('six', '2001:db8::1', '10.0.2.15'));
  refused(
    /one and two both have the address 10\.0\.2\.15/,
    null,
    at('one', '10.0.2.15', '10.0.2.15'),
    at('two', '10.0.2.15', '10.0.2.15'),
  );
});

test('a network is written with all its bits', () => {
  for (const right of ['10.0.0.0/8', '10.20.0.0/16', '192.168.1.0/24', '192.168.1.4/30'])
    assert.ok(isNetwork(right), right);
  for (const wrong of [
    '10.0.0.5/16',
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0.0/0',
    '10.0.0/8',
    'fd00::/8',
    '999.0.0.0/8',
  ])
    assert.ok(!isNetwork(wrong), wrong);
});
