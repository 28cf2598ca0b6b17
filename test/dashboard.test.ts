/** The dashboard's files over HTTP: what a browser is given, how large it is, and that programs are given what they were. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const mostScriptBytes = 60_000;

async function firstView() {
  const service = await sharedTestApp();
  const page = await service.call('GET', '//', { headers: browser });
  assert.equal(page.status, 200, page.text);
  const links = [...page.text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
  return { service, page, links };
}

test('the page runs no script but its own files, and asks nobody else for anything', async () => {
  const { page } = await firstView();
  assert.doesNotMatch(page.text, /<script(?![^>]* src="\/)|<style|\son\w+=|style=|https?:/);
  const policy = page.headers.get('content-security-policy') ?? '';
  const allowed = new Set(policy.split('; ').flatMap((each) => each.split(' ').slice(1)));
  assert.deepEqual([...allowed].sort(), ["'none'", "'script'", "'self'"]);
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /require-trusted-types-for 'script'/);
  assert.equal(page.headers.get('cache-control'), 'no-cache');
  assert.match(page.headers.get('vary') ?? '', /accept\b.*accept-encoding/);
});

test('the first view needs at most 60 KB of script, compressed', async () => {
  const { service, links } = await firstView();
  let bytes = 0;
  for (const path of links.filter((each) => each.endsWith('.js'))) {
    const answer = await fetch(`${service.url}${path}`, { headers: { 'accept-encoding': 'br' } });
    assert.equal(answer.headers.get('content-encoding'), 'br', path);
    bytes += Number(answer.headers.get('content-length'));
    await answer.arrayBuffer();
  }
  assert.ok(bytes > 10_000, `${bytes} bytes are too few to be true`);
  assert.ok(bytes <= mostScriptBytes, `${bytes} bytes`);
});

test('files come as brotli, as gzip or plain, are kept for ever, and not sent to those who have them', async () => {
  const { service, links } = await firstView();
  assert.ok(links.some((each) => each.endsWith('.css')) && links.some((each) => each.endsWith('.js')));
  for (const path of links) {
    const texts = new Set<string>();
    for (const encoding of ['br, gzip', 'gzip', 'identity']) {
      const answer = await fetch(`${service.url}${path}`, { headers: { 'accept-encoding': encoding } });
      assert.equal(answer.status, 200, path);
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      assert.equal(answer.headers.get('content-encoding') ?? 'identity', encoding.split(',')[0]);
      texts.add(await answer.text());
    }
    assert.equal(texts.size, 1, `${path} says the same in each`);
    const { headers } = await service.call('GET', `/${path}`);
    const known = { 'if-none-match': headers.get('etag') ?? '' };
    assert.equal((await service.call('GET', `/${path}`, { headers: known })).status, 304);
  }
  assertProblem(await service.call('GET', '//assets/none.js', { headers: browser }), 404, 'not_found');
});

test('a link to any place in it is answered with the page, and only to browsers that look for one', async () => {
  const { service, page } = await firstView();
  for (const path of ['/sign-in', '/environments/01990a1b/deployments/x', '/anything?a=1']) {
    assert.equal((await service.call('GET', `/${path}`, { headers: browser })).text, page.text, path);
    assertProblem(await service.call('GET', `/${path}`), 404, 'not_found');
    assertProblem(await service.call('POST', `/${path}`, { headers: browser }), 404, 'not_found');
  }
  for (const path of ['/api', '/api/v1/none', '/api/none', '/assets/none'])
    assertProblem(await service.call('GET', `/${path}`, { headers: browser }), 404, 'not_found');
  const { body } = await service.call('GET', '//', { headers: { accept: 'application/json' } });
  assert.equal(body.api, '/api/v1');
});
