import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EnvironmentId } from '../../ids.ts';
import type { ProxyFront } from './fronts.ts';
import { markerOf, renderFront } from './render-front.ts';

const front: ProxyFront = {
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

test('a front has a listener and a section of its own, named after its id, with the servers that get requests', () => {
  const text = renderFront(front);
  assert.match(
    text,
    /^frontend port_0190aaaa_0000_7000_8000_000000000001 from slipway_in\n {2}bind :21005$/m,
  );
  assert.match(text, /^backend app_0190aaaa_0000_7000_8000_000000000001 from slipway_out$/m);
  assert.deepEqual(serverLines(text), [
    '  server forward abns@slipway_app_0190aaaa_0000_7000_8000_000000000001 weight 0',
    `  server ${markerOf(front)} 127.0.0.1:9 weight 0`,
    '  server all_wait 127.0.0.1:9 weight 0 disabled',
    '  server web-1 198.18.1.2:3000 weight 100 pool-purge-delay 1s',
    '  server web-2 [fd00::2]:3000 weight 100 pool-purge-delay 1s',
  ]);
});

test('servers on other machines are asked by the proxy itself, and given up before that where they are silent', () => {
  const checked = { ...front, isChecked: true };
  const [, , , web] = serverLines(renderFront(checked));
  assert.match(web ?? '', /^ {2}server web-1 198\.18\.1\.2:3000 weight 100 .* check inter 400ms .* fall 3 /);
  assert.match(renderFront(checked), /^ {2}timeout connect 300ms$/m);
  assert.doesNotMatch(renderFront(front), /timeout connect/);
});

test('held and stopped fronts have no servers; requests may wait only where it is held', () => {
  const marker = `  server ${markerOf(front)} 127.0.0.1:9 weight 0`;
  const wait = '  server all_wait 127.0.0.1:9 weight 0';
  assert.deepEqual(serverLines(renderFront(front, 'held')).slice(1), [marker, wait]);
  assert.deepEqual(serverLines(renderFront(front, 'stopped')).slice(1), [
    `${marker} disabled`,
    `${wait} disabled`,
  ]);
  assert.equal(renderFront({ ...front, servers: [] }), renderFront(front, 'stopped'));
});

test('the marker changes with the rules, and with nothing that is changed at run time', () => {
  const runtime = { ...front, servers: [], hosts: [] };
  assert.equal(markerOf(runtime), markerOf(front));
  for (const change of [{ port: 21_006 }, { holdSeconds: 31 }])
    assert.notEqual(markerOf({ ...front, ...change }), markerOf(front));
});

test('nothing but ids, addresses and numbers gets into the file', () => {
  const server = { name: 'web-1', address: '198.18.1.2', port: 3000 };
  const wrong: Partial<ProxyFront>[] = [
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
      () => renderFront({ ...front, ...change }),
      { code: 'invalid_input' },
      JSON.stringify(change),
    );
});
