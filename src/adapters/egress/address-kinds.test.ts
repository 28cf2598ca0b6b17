import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindOfAddress } from './address-kinds.ts';

const samples: Readonly<Record<string, readonly string[]>> = {
  public: [
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:81b::200e',
    '2001:4860:4860::8888',
    '2001:200::1',
    '64:ff9b::8.8.8.8',
    '2002:0808:0808::1',
  ],
  loopback: ['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::ffff:7f00:1'],
  private: [
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '100.127.255.255',
    'fc00::1',
    'fd12:3456::1',
    '::ffff:10.0.0.1',
    '::FFFF:C0A8:0101',
    '0:0:0:0:0:ffff:192.168.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b::c0a8:101',
    '2002:0a00:0001::1',
    // Teredo: the server, and the client with its bits turned over.
    '2001:0:0a00:0001::',
    '2001:0:0808:0808:0:0:f5ff:fffe',
  ],
  'link-local': [
    '169.254.169.254',
    'fe80::1',
    'febf::1',
    'fe80::1%eth0',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::',
  ],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  documentation: [
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.1',
    '198.18.0.1',
    '198.19.255.255',
    '2001:db8::1',
    '2001:2::1',
    '3fff::1',
  ],
  unspecified: ['0.0.0.0', '0.1.2.3', '::', '::ffff:0.0.0.0'],
  reserved: [
    '255.255.255.255',
    '240.0.0.1',
    '192.0.0.1',
    '192.88.99.1',
    '::ffff:8.8.8.8',
    '::8.8.8.8',
    '::2',
    '64:ff9b:1::1',
    '100::1',
    '2001:10::1',
    '2001:20::1',
    '4000::1',
    'fec0::1',
    'not an address',
    '127.1',
    '2130706433',
  ],
};

test('each address is of the kind that the registries give it, however it is written', () => {
  for (const [kind, addresses] of Object.entries(samples)) {
    for (const address of addresses) assert.equal(kindOfAddress(address), kind, address);
  }
});
