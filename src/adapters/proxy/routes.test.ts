import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EnvironmentId } from '../../ids.ts';
import { baseConfig } from './base-config.ts';
import type { ProxyRoute } from './fronts.ts';
import { markerOf, renderFront } from './render-front.ts';
import { entriesOf, mustBeRoutes, policyOf, routeFrom } from './routes.ts';

const route = (changes: Partial<ProxyRoute> = {}): ProxyRoute => ({
  host: 'example.com',
  tls: true,
  redirectHttp: true,
  hstsSeconds: null,
  redirectTo: null,
  ...changes,
});

test('what a name does is one word of the map, and can be read back from it', () => {
  const apex = route();
  const all: [ProxyRoute, string][] = [
    [apex, 'force|-|-|-'],
    [route({ redirectHttp: false }), 'tls|-|-|-'],
    [route({ tls: false }), 'spec|-|-|-'],
    [route({ tls: false, redirectHttp: false }), 'plain|-|-|-'],
    [route({ hstsSeconds: 0 }), 'force|0|-|-'],
    [route({ host: '*.example.com', hstsSeconds: 300 }), 'force|300|-|-'],
  ];
  for (const [each, policy] of all) {
    assert.equal(policyOf(each, [each]), policy);
    assert.deepEqual(routeFrom(each.host, policy), each);
  }
  assert.equal(policyOf(route({ tls: false, hstsSeconds: 300 }), []), 'spec|-|-|-');
});

test('who is sent to another name arrives in one step, and never at one without a certificate by TLS', () => {
  const www = route({ host: 'www.example.com', redirectTo: 'example.com' });
  const sent = (target: Partial<ProxyRoute> | null, from = www) =>
    policyOf(from, target ? [route(target), from] : [from])
      .split('|')
      .slice(2);
  assert.deepEqual(sent({}), ['https://example.com', 'https://example.com']);
  assert.deepEqual(sent({ redirectHttp: false }), ['http://example.com', 'https://example.com']);
  assert.deepEqual(sent({ tls: false }), ['http://example.com', 'http://example.com']);
  assert.deepEqual(sent(null), ['https://example.com', 'https://example.com']);
  assert.deepEqual(sent(null, { ...www, tls: false }), ['http://example.com', 'http://example.com']);
  assert.deepEqual(routeFrom(www.host, policyOf(www, [www])), www);
});

test('the names of a front are those with a route and those without, each once', () => {
  const hosts = ['example.com', 'plain.example.com'];
  assert.deepEqual(entriesOf({ hosts, routes: [route()] }), [
    { host: 'example.com', policy: 'force|-|-|-' },
    { host: 'plain.example.com', policy: null },
  ]);
});

test('nothing but names and numbers gets into a map', () => {
  const hosts = [
    'Example.com',
    'a b.test',
    'a.test\nx',
    '*',
    '*.',
    '*.com',
    'a.*.test',
    '**.a.test',
    'a.test|x',
  ];
  const wrong: Partial<ProxyRoute>[] = [
    ...hosts.map((host) => ({ host })),
    ...[...hosts, '*.example.org', 'example.com', 'https://a.test', ''].map((redirectTo) => ({ redirectTo })),
    ...[-1, 1.5, Number.NaN, 1e12].map((hstsSeconds) => ({ hstsSeconds })),
  ];
  for (const change of wrong)
    assert.throws(() => mustBeRoutes([route(change)]), { code: 'invalid_input' }, JSON.stringify(change));
  assert.throws(() => mustBeRoutes([route(), route({ tls: false })]), { code: 'invalid_input' });
  mustBeRoutes([route(), route({ host: '*.example.com', redirectTo: 'example.com' })]);
});

test('routes change nothing in the file of a front: no reload is needed for them', () => {
  const id = '0190aaaa-0000-7000-8000-000000000001' as EnvironmentId;
  const front = { id, port: 21_005, hosts: [], servers: [], holdSeconds: 30 };
  const routed = { ...front, routes: [route()] };
  assert.equal(renderFront(routed), renderFront(front));
  assert.equal(markerOf(routed), markerOf(front));
  assert.throws(() => renderFront({ ...front, routes: [route({ host: 'X' })] }), { code: 'invalid_input' });
});

test('the challenge is answered before anything is redirected or refused, and the base names no host', () => {
  const at = (text: string) => baseConfig.indexOf(text);
  assert.ok(at('acme-challenge') > 0 && at('acme-challenge') < at('status 404'));
  assert.ok(at('status 404') < at('redirect prefix'));
  assert.match(baseConfig, /ssl-min-ver TLSv1\.2 no-tls-tickets/);
});
