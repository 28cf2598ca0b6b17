import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';

import { openBench, openReceiver } from '../../../../lab/services/git/test-bench.ts';
import { openAt } from '../../../../test/support/git-host.ts';
import { after } from '../../../clock.ts';
import { Secret } from '../../../secret.ts';
import type { GitHostKind } from '../git-hosts.ts';
import { type HeaderLines, verifyDelivery } from './verify-delivery.ts';
import { readDelivery } from './webhooks.ts';

const secret: Secret = new Secret('It’s a secret');
const body = Buffer.from('{"ref":"refs/heads/main"}\n');
const hex = (key: string, text = body) => createHmac('sha256', key).update(text).digest('hex');
const good = hex(secret.reveal());

const signed: readonly (readonly [GitHostKind, string, string])[] = [
  ['github', 'x-hub-signature-256', `sha256=${good}`],
  ['gitea', 'x-gitea-signature', good],
  ['gitea', 'x-forgejo-signature', good],
  ['gitea', 'x-hub-signature-256', `sha256=${good}`],
  ['bitbucket', 'x-hub-signature', `sha256=${good}`],
  ['gitlab', 'x-gitlab-token', secret.reveal()],
];

test('each host’s signature is taken, and nothing that is only nearly it', () => {
  for (const [kind, header, value] of signed) {
    const holds = (headers: HeaderLines, raw = body, key = secret) => verifyDelivery(kind, headers, raw, key);
    assert.equal(holds({ [header]: value }), true, header);
    const wrong: HeaderLines[] = [
      {},
      { [header]: '' },
      { [header]: `${value}0` },
      { [header]: value.slice(0, -1) },
      { [header]: `${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}` },
      { [header]: 'sha256=' },
      { [header]: [value, value] },
      { [header]: hex('another key') },
    ];
    for (const headers of wrong) assert.equal(holds(headers), false, `${kind} ${JSON.stringify(headers)}`);
    assert.equal(holds({ [header]: value }, body, new Secret('other')), false, 'another secret');
    if (kind !== 'gitlab') assert.equal(holds({ [header]: value }, Buffer.from('{}')), false, 'another body');
  }
});

test('an empty secret is never a secret, also where the signature was made with it', () => {
  const empty = new Secret('');
  const none = hex('');
  for (const [kind, header] of signed) {
    for (const value of [none, `sha256=${none}`, ''])
      assert.equal(verifyDelivery(kind, { [header]: value }, body, empty), false, kind);
  }
});

test('a signature of one host is none of another', () => {
  assert.equal(verifyDelivery('github', { 'x-hub-signature': `sha256=${good}` }, body, secret), false);
  assert.equal(verifyDelivery('bitbucket', { 'x-hub-signature-256': `sha256=${good}` }, body, secret), false);
  assert.equal(verifyDelivery('gitlab', { 'x-hub-signature-256': `sha256=${good}` }, body, secret), false);
  const both = { 'x-gitea-signature': hex('wrong'), 'x-hub-signature-256': `sha256=${good}` };
  assert.equal(verifyDelivery('gitea', both, body, secret), false, 'its own comes first');
});

test('GitLab’s newer signature covers number, time and body, and grows old', () => {
  const now = new Date('2026-06-01T12:00:00Z');
  const clock = (ms = 0) => ({ now: () => after(now, ms) });
  const time = String(now.getTime() / 1000);
  const raw = Buffer.from('0123456789abcdef0123456789abcdef');
  for (const [key, bytes] of [
    ['plain-secret', Buffer.from('plain-secret')],
    [`whsec_${raw.toString('base64')}`, raw],
  ] as const) {
    const mac = createHmac('sha256', bytes).update(`msg-1.${time}.`).update(body).digest('base64');
    const headers = { 'webhook-id': 'msg-1', 'webhook-timestamp': time, 'webhook-signature': `v1,${mac}` };
    const holds = (changed: HeaderLines = {}, at = clock(), bytesSent = body) =>
      verifyDelivery('gitlab', { ...headers, ...changed }, bytesSent, new Secret(key), at);
    assert.equal(holds(), true);
    assert.equal(holds({ 'webhook-signature': `v1,AAAA v1,${mac}` }), true, 'one of several');
    assert.equal(holds({}, clock(4 * 60_000)), true);
    assert.equal(holds({}, clock(6 * 60_000)), false, 'old');
    assert.equal(holds({}, clock(-6 * 60_000)), false, 'from the future');
    assert.equal(holds({ 'webhook-id': 'msg-2' }), false);
    assert.equal(holds({ 'webhook-timestamp': String(Number(time) + 1) }), false);
    assert.equal(holds({ 'webhook-timestamp': 'NaN' }), false);
    assert.equal(holds({ 'webhook-signature': mac }), false);
    assert.equal(holds({}, clock(), Buffer.from('{}')), false);
    assert.equal(holds({ 'webhook-signature': undefined }), false);
  }
  const unkeyed = createHmac('sha256', '').update(`m.${time}.`).update(body).digest('base64');
  const headers = { 'webhook-id': 'm', 'webhook-timestamp': time, 'webhook-signature': `v1,${unkeyed}` };
  assert.equal(
    verifyDelivery('gitlab', headers, body, new Secret('whsec_'), clock()),
    false,
    'no key after the prefix',
  );
});

test('what a real host sends for a hook that was made here is signed and understood', async (t) => {
  const bench = await openBench(t);
  const receiver = await openReceiver(t);
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const github = await openAt('github', bench.host.url, { token: bench.token });
  await github.createHook({ fullName: 'ada/app' }, { url: receiver.url, secret });
  const { sha } = await bench.host.commit('ada', 'app', {
    branch: 'main',
    message: 'One [skip ci]',
    files: { 'a b': '1' },
  });
  const [delivered] = await receiver.take('push', 1);
  const [ping] = await receiver.take('ping', 1);
  assert.ok(delivered && ping);
  assert.equal(verifyDelivery('github', delivered.headers, delivered.raw, secret), true);
  assert.equal(
    verifyDelivery('github', delivered.headers, Buffer.concat([delivered.raw, body]), secret),
    false,
  );
  const [push] = readDelivery('github', delivered.headers, delivered.payload);
  assert.ok(push?.type === 'push');
  assert.deepEqual([push.after, push.headMessage, push.commits[0]?.added], [sha, 'One [skip ci]', ['a b']]);
  assert.equal(push.deliveryId, delivered.headers['x-github-delivery']);
  assert.equal(readDelivery('github', ping.headers, ping.payload)[0]?.type, 'ping');
});
