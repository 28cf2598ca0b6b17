import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EnvironmentId } from '../../ids.ts';
import { markerOf, renderSite } from './render-site.ts';
import type { ProxySite } from './sites.ts';

const site: ProxySite = {
  id: '0190aaaa-0000-7000-8000-000000000001' as EnvironmentId,
  port: 21_005,
  hosts: ['app.example.com'],
  servers: [
    { name: 'web-1', address: '198.18.1.2', port: 3000 },
    { name: 'web-2', address: 'fd00::2', port: 3000 },
  ],
  holdSeconds: 30,
};

const serverLines = (text: string) => text.split('\n').filter((line) => line.startsWith('  server '));

test('a site has a listener and a section of its own, named after its id, with the servers that get requests', () => {
  const text = renderSite(site);
  assert.match(
    text,
    /^frontend port_0190aaaa_0000_7000_8000_000000000001 from slipway_in\n {2}bind :21005$/m,
  );
  assert.match(text, /^backend site_0190aaaa_0000_7000_8000_000000000001 from slipway_out$/m);
  assert.deepEqual(serverLines(text), [
    '  server forward abns@slipway_site_0190aaaa_0000_7000_8000_000000000001 weight 0',
    `  server ${markerOf(site)} 127.0.0.1:9 weight 0`,
    '  server web-1 198.18.1.2:3000 weight 100 pool-purge-delay 1s',
    '  server web-2 [fd00::2]:3000 weight 100 pool-purge-delay 1s',
  ]);
});

test('held and stopped sites have no servers; requests may wait only where it is held', () => {
  const marker = `  server ${markerOf(site)} 127.0.0.1:9 weight 0`;
  assert.deepEqual(serverLines(renderSite(site, 'held')).slice(1), [marker]);
  assert.deepEqual(serverLines(renderSite(site, 'stopped')).slice(1), [`${marker} disabled`]);
  assert.equal(renderSite({ ...site, servers: [] }), renderSite(site, 'stopped'));
});

test('the marker changes with the rules, and with nothing that is changed at run time', () => {
  const runtime = { ...site, servers: [], hosts: [] };
  assert.equal(markerOf(runtime), markerOf(site));
  for (const change of [{ port: 21_006 }, { holdSeconds: 31 }])
    assert.notEqual(markerOf({ ...site, ...change }), markerOf(site));
});

test('nothing but ids, addresses and numbers gets into the file', () => {
  const server = { name: 'web-1', address: '198.18.1.2', port: 3000 };
  const wrong: Partial<ProxySite>[] = [
    { id: 'x\nbackend y' as EnvironmentId },
    { port: 80 },
    { port: 21_000.5 },
    { holdSeconds: -1 },
    { holdSeconds: 1e9 },
    ...[
      'UPPER.example.com',
      'a b.example.com',
      'localhost',
      '-a.example.com',
      'a.example.com\nx',
      '*.example.com',
    ].map((host) => ({ hosts: [host] })),
    ...['a b', 'a\nb', '', 'shape_x', 'forward', 'A', 'a/b', 'a;b'].map((name) => ({
      servers: [{ ...server, name }],
    })),
    ...['host.example.com', '198.18.1.2 disabled', ''].map((address) => ({
      servers: [{ ...server, address }],
    })),
    ...[0, 65_536, 1.5, Number.NaN].map((port) => ({ servers: [{ ...server, port }] })),
    { servers: [server, server] },
  ];
  for (const change of wrong)
    assert.throws(
      () => renderSite({ ...site, ...change }),
      { code: 'invalid_input' },
      JSON.stringify(change),
    );
});
