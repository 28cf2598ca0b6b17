import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dismiss, drained } from '../../src/adapters/proxy/drain.ts';
import { admit, removeFront, switchTo } from '../../src/adapters/proxy/front-changes.ts';
import { readFronts } from '../../src/adapters/proxy/read-fronts.ts';
import { openLab } from '../support/lab.ts';
import { ProxyGround, seenBy, Visitors, visit } from '../support/proxy.ts';

const lab = await openLab();

test('on Debian 12: nobody outside chooses a server or says who they are, and a name that is unknown leads nowhere', async (t) => {
  const ground = await ProxyGround.open(t, await lab.fresh(t, 'bookworm'));
  const { work } = ground;
  const front = ground.front({ hosts: ['app.example.com'] });
  const [live, idle] = [await ground.startApp(), await ground.startApp()];
  await admit(work, front, [live]);
  await ground.answersThrough(front, live);
  await switchTo(work, { ...front, servers: [live] });
  await admit(work, front, [idle]);
  await ground.answersThrough(front, idle);
  const headers = {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'bank.example.com',
    'x-forwarded-port': '1',
    'x-real-ip': '203.0.113.9',
    forwarded: 'for=203.0.113.9',
    'x-slipway-check': idle.name,
    'x-slipway-served': idle.name,
  };
  for (const url of [ground.url(front), `http://${ground.address}/`]) {
    const seen = await visit(url, { headers: { ...headers, host: 'app.example.com' } });
    const { name, headers: arrived } = seenBy(seen);
    assert.equal(name, live.name);
    assert.equal(seen.headers['x-slipway-served'], undefined);
    const told = Object.entries(arrived).filter(([key]) => /forwarded|slipway|real-ip/.test(key));
    assert.deepEqual(Object.fromEntries(told), {
      'x-forwarded-for': lab.about.address,
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'app.example.com',
      'x-forwarded-port': new URL(url).port || '80',
    });
  }
  const unknown = await visit(`http://${ground.address}/`, { headers: { host: 'other.example.com' } });
  assert.deepEqual([unknown.status, unknown.text], [404, 'No application answers to this name.\n']);

  const visitors = new Visitors(t, ground.url(front));
  await switchTo(work, { ...front, servers: [idle] });
  assert.deepEqual([...(await drained(work, front.id, [live.name], { forMs: 20_000 }))], []);
  await dismiss(work, front.id, [live.name]);
  await ground.stopApp(live);
  await visitors.end();
  assert.deepEqual(visitors.failures, []);
  await removeFront(work, front.id);
  assert.deepEqual((await readFronts(work)).fronts, []);
  await assert.rejects(visit(ground.url(front)), { code: 'ECONNREFUSED' });
  const gone = await visit(`http://${ground.address}/`, { headers: { host: 'app.example.com' } });
  assert.equal(gone.status, 404);
});
