import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../src/config.ts';
import { startTestApp } from './support/app.ts';
import { assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';

test('the page loads only from its own origin, and may not do otherwise', async () => {
  const service = await sharedTestApp();
  const page = await service.call('GET', '//api/docs');
  assert.equal(page.status, 200);
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
  const assets = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address);
  assert.ok(assets.length >= 3);
  for (const address of assets) {
    assert.match(address, /^\/[^/]/);
    assert.equal((await service.call('GET', `/${address}`)).status, 200, address);
  }
  assert.doesNotMatch(page.text, /<script(?![^>]* src=)|\son\w+=/, 'no script inside the page');
  const policy = page.headers.get('content-security-policy') ?? '';
  const allowed = new Set(policy.split('; ').flatMap((each) => each.split(' ').slice(1)));
  assert.deepEqual([...allowed].sort(), ["'none'", "'self'", "'unsafe-inline'", 'data:']);
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self'(;|$)/);
  assert.match(policy, /connect-src 'self'(;|$)/);
});

test('the page shows every operation at once, by its tag, in the order in which one meets them', async () => {
  const service = await sharedTestApp();
  const { text } = await service.call('GET', '//api/docs');
  const { body } = await service.call('GET', '//api/docs/openapi.json');
  const [, outline = ''] = /<main id="outline">(.*)<\/main>/s.exec(text) ?? [];
  const tags: { name: string }[] = Object(body.tags);
  assert.deepEqual(
    [...outline.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, name]) => name),
    tags.map(({ name }) => name),
  );
  const calls = Object.entries(Object(body.paths)).flatMap(([path, methods]) =>
    Object.keys(Object(methods)).map((method) => `${method.toUpperCase()} ${path}`),
  );
  assert.deepEqual(
    [...outline.matchAll(/<code>([A-Z]+ \S+)<\/code> \S/g)].map(([, call]) => call).sort(),
    calls.sort(),
  );
  assert.doesNotMatch(outline, /Default Response|undefined|\[object/);
});

test('the page starts without asking anyone else for anything', async () => {
  const service = await sharedTestApp();
  const start = await service.call('GET', '//api/docs/start.js');
  assert.doesNotMatch(start.text, /https?:/);
  assert.match(start.text, /"url":"\/api\/docs\/openapi\.json"/);
});

test('the script of the page comes compressed to those who can, and plain to those who cannot', async () => {
  const service = await sharedTestApp();
  const plain = await service.call('GET', '//api/docs/reference.js', {
    headers: { 'accept-encoding': 'identity' },
  });
  assert.equal(plain.headers.get('content-encoding'), null);
  assert.equal(plain.headers.get('vary'), 'accept-encoding');
  assert.match(plain.headers.get('content-type') ?? '', /^text\/javascript/);
  const zipped = await fetch(`${service.url}/api/docs/reference.js`, {
    headers: { 'accept-encoding': 'gzip' },
  });
  assert.equal(zipped.headers.get('content-encoding'), 'gzip');
  assert.ok(Number(zipped.headers.get('content-length')) < plain.text.length / 2);
  assert.equal(await zipped.text(), plain.text);
});

test('the document comes compressed, and not at all to those who have it', async () => {
  const service = await sharedTestApp();
  for (const name of ['/openapi.json', '/reference.js', '/start.js', '']) {
    const address = `${service.url}/api/docs${name}`;
    const first = await fetch(address, { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(first.status, 200);
    assert.equal(first.headers.get('content-encoding'), 'gzip');
    assert.equal(first.headers.get('cache-control'), 'no-cache');
    assert.match(first.headers.get('vary') ?? '', /accept-encoding/);
    const etag = first.headers.get('etag') ?? '';
    assert.match(etag, /^W\/"[\w-]{22}"$/);
    await first.arrayBuffer();
    for (const known of [etag, `"other", ${etag}`, '*']) {
      const again = await service.call('GET', `//api/docs${name}`, { headers: { 'if-none-match': known } });
      assert.equal(again.status, 304, known);
      assert.equal(again.text, '');
      assert.equal(again.headers.get('etag'), etag);
    }
    const other = await service.call('GET', `//api/docs${name}`, {
      headers: { 'if-none-match': '"other"' },
    });
    assert.equal(other.status, 200);
  }
});

test('programs that ask at the address itself are told where to go from there', async (t) => {
  const service = await sharedTestApp();
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
    const { body, headers: told } = await service.call('GET', '//', { headers });
    assert.deepEqual(body, {
      name: 'Slipway',
      api: '/api/v1',
      docs: '/api/docs',
      openapi: '/api/docs/openapi.json',
      health: '/healthz',
    });
    assert.equal(told.get('vary'), 'accept');
  }
  const quiet = await startTestApp(t, { env: { SLIPWAY_DOCS: 'off' } });
  assert.equal((await quiet.call('GET', '//')).body.docs, null);
});

test('there is an icon, where pages name it and where browsers look by themselves', async () => {
  const service = await sharedTestApp();
  const page = await service.call('GET', '//api/docs');
  assert.match(page.text, /<link rel="icon" href="\/favicon\.svg"/);
  for (const path of ['//favicon.svg', '//favicon.ico']) {
    const icon = await service.call('GET', path);
    assert.equal(icon.status, 200);
    assert.equal(icon.headers.get('content-type'), 'image/svg+xml');
    assert.match(icon.text, /^<svg /);
  }
});

test('switched off, nothing of the documentation is there', async (t) => {
  const service = await startTestApp(t, { env: { SLIPWAY_DOCS: 'off' } });
  for (const path of ['', '/', '/openapi.json', '/start.js', '/reference.js']) {
    assertProblem(await service.call('GET', `//api/docs${path}`), 404, 'not_found');
  }
});

test('what the settings keep off this address is not in its document', async (t) => {
  const service = await startTestApp(t, { env: { SLIPWAY_MONITOR_LISTEN: 'off' } });
  const { body } = await service.call('GET', '//api/docs/openapi.json');
  const { paths } = Object(body);
  assert.ok(paths['/healthz']);
  assert.deepEqual([paths['/readyz'], paths['/metrics']], [undefined, undefined]);
});

test('the documentation is on by default, and off in production unless it is set', () => {
  assert.equal(readConfig({}).docs, true);
  assert.equal(readConfig({ NODE_ENV: 'development' }).docs, true);
  assert.equal(readConfig({ NODE_ENV: 'production' }).docs, false);
  assert.equal(readConfig({ NODE_ENV: 'production', SLIPWAY_DOCS: 'on' }).docs, true);
  assert.equal(readConfig({ SLIPWAY_DOCS: 'off' }).docs, false);
});
