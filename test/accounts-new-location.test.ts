import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from '../src/areas/accounts/sign-in-location.ts';
import { day } from '../src/clock.ts';
import { prefixOf } from '../src/network.ts';
import { startTestApp } from './support/app.ts';
import { newPerson } from './support/people.ts';

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const newerFirefox = firefox.replaceAll('140.0', '141.0');
const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

test('a sign-in from a new location is reported to the account’s own mailbox, once, and the first one of all is not', async (t) => {
  const service = await startTestApp(t, { env: { SLIPWAY_TRUSTED_PROXIES: '127.0.0.1' } });
  const { email, password } = await newPerson(service);
  const signIn = async (userAgent: string, ip: string) => {
    const headers = { 'user-agent': userAgent, 'x-forwarded-for': ip };
    const answer = await service.call('POST', '/auth/login', { body: { email, password }, headers });
    assert.equal(answer.status, 200, answer.text);
  };
  assert.equal(await service.mailbox.unreadCount(email), 0, 'confirming the address was the first sign-in');
  await signIn(firefox, '198.51.100.7');
  const mail = await service.mailbox.next(email);
  assert.equal(mail.subject, 'Your Slipway account was used from a new location');
  assert.match(mail.text, /with Firefox on Linux, from 198\.51\.100\.7, at 20/);
  await signIn(newerFirefox, '198.51.100.200');
  await signIn(firefox, '198.51.100.7');
  await signIn(chrome, '198.51.100.7');
  assert.match((await service.mailbox.next(email)).text, /Chrome on Windows/, 'and nothing came in between');
  service.clock.advance(91 * day);
  await signIn(firefox, '203.0.113.9');
  await signIn(firefox, '198.51.100.7');
  assert.match(
    (await service.mailbox.next(email)).text,
    /198\.51\.100\.7/,
    'what was seen long ago is new again',
  );
  await signIn('<script>alert(1)</script>\u0022><b>', '192.0.2.4');
  const odd = await service.mailbox.next(email);
  assert.match(odd.text, /with an unknown program, from 192\.0\.2\.4/);
  assert.doesNotMatch(odd.html, /script|<b>/);
});

test('a place is a family of browsers and the part of an address that stays', () => {
  assert.equal(browserOf(firefox), browserOf(newerFirefox));
  assert.equal(browserOf('curl/8.5.0'), 'curl');
  assert.equal(browserOf(''), 'an unknown program');
  assert.equal(prefixOf('198.51.100.7'), prefixOf('198.51.100.9'));
  assert.equal(prefixOf('::ffff:198.51.100.7'), prefixOf('198.51.100.9'));
  assert.notEqual(prefixOf('198.51.100.7'), prefixOf('198.51.101.7'));
  assert.equal(prefixOf('2001:db8:1::1'), prefixOf('2001:0DB8:0001:ffff::2'));
  assert.notEqual(prefixOf('2001:db8:1::1'), prefixOf('2001:db8:2::1'));
  assert.equal(prefixOf('::1'), '0:0:0');
  assert.equal(prefixOf('nonsense'), 'unknown');
});
