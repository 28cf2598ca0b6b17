import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { startTestApp, type TestApp } from '../support/app.ts';
import { newEmail, newPerson } from '../support/people.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { newPassword, post, statusCounts } from '../support/steps.ts';

/** A POST whose headers are all ours, `Host` included, which fetch would not let us choose. */
function rawPost(
  service: TestApp,
  path: string,
  body: object,
  headers: Record<string, string>,
): Promise<number> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        hostname,
        port,
        path: `/api/v1${path}`,
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
      },
      (answer) => answer.resume().on('end', () => resolve(answer.statusCode ?? 0)),
    );
    sent.on('error', reject).end(JSON.stringify(body));
  });
}

const forged = {
  host: 'evil.example',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'https',
  'x-forwarded-port': '666',
  'x-original-host': 'evil.example',
  forwarded: 'host=evil.example;proto=https',
  origin: 'https://evil.example',
  referer: 'https://evil.example/',
};

for (const proxies of ['', '127.0.0.1']) {
  test(`the link in a mail does not follow the headers of a request, ${proxies ? 'from a trusted proxy either' : 'whatever they say'}`, async (t) => {
    const publicUrl = 'https://deploy.example.com';
    const env = { SLIPWAY_PUBLIC_URL: publicUrl, SLIPWAY_TRUSTED_PROXIES: proxies };
    const service = await startTestApp(t, { env });
    const ada = await newPerson(service);
    assert.equal(await rawPost(service, '/auth/forgot-password', { email: ada.email }, forged), 202);
    const reset = await service.mailbox.next(ada.email);
    assert.equal(
      await rawPost(service, '/auth/register', { email: ada.email, password: newPassword() }, forged),
      201,
    );
    const already = await service.mailbox.next(ada.email);
    for (const mail of [reset, already]) {
      const all = `${mail.subject}\n${mail.text}\n${mail.html}`;
      assert.doesNotMatch(all, /evil/);
      assert.ok(all.includes(`${publicUrl}/reset-password#token=`), mail.text);
    }
  });
}

test('without SLIPWAY_PUBLIC_URL the link leads to where the service listens, not to what the request calls it', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  assert.equal(await rawPost(service, '/auth/forgot-password', { email: ada.email }, forged), 202);
  const mail = await service.mailbox.next(ada.email);
  assert.ok(mail.text.includes(`${service.url}/reset-password#token=`), mail.text);
});

/** Fifteen tries to sign in, each for another address, each with the headers that `headers` makes. */
async function tries(service: TestApp, headers: (index: number) => Record<string, string>) {
  const answers = [];
  for (let index = 0; index < 15; index += 1) {
    const body = { email: newEmail(), password: newPassword() };
    answers.push(await post(service, '/auth/login', body, headers(index)));
  }
  return statusCounts(answers);
}

const limited = { 401: 10, 429: 5 };
const free = { 401: 15 };
const behindProxy = { SLIPWAY_LIMIT_SIGN_IN: '10', SLIPWAY_TRUSTED_PROXIES: '127.0.0.1' };

test('without trusted proxies no header makes a caller look like another', async (t) => {
  const service = await startTestApp(t, { env: { SLIPWAY_LIMIT_SIGN_IN: '10' } });
  const names = [
    'x-forwarded-for',
    'x-real-ip',
    'forwarded',
    'cf-connecting-ip',
    'true-client-ip',
    'x-client-ip',
  ];
  const counts = await tries(service, (index) =>
    Object.fromEntries(
      names.map((name) => [name, name === 'forwarded' ? `for=203.0.113.${index}` : `203.0.113.${index}`]),
    ),
  );
  assert.deepEqual(counts, limited);
});

test('behind a trusted proxy the address it saw counts, which is the right-most, and what stands left of it does not', async () => {
  const spoofing = await sharedTestApp(behindProxy);
  const spoofed = await tries(spoofing, (index) => ({
    'x-forwarded-for': `203.0.113.${index}, 198.51.100.7`,
  }));
  assert.deepEqual(spoofed, limited);
  const others = await tries(spoofing, (index) => ({
    'x-forwarded-for': `198.51.100.7, 203.0.113.${index}`,
  }));
  assert.deepEqual(others, free);
});

test('a chain of trusted proxies is walked to the first that is not ours', async (t) => {
  const env = { SLIPWAY_LIMIT_SIGN_IN: '10', SLIPWAY_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8' };
  const service = await startTestApp(t, { env });
  const chain = (index: number) => ({
    'x-forwarded-for': `203.0.113.${index}, 198.51.100.7, 10.1.2.3, 10.${index}.0.1`,
  });
  assert.deepEqual(await tries(service, chain), limited);
});

test('an IPv6 customer counts as one caller, whichever of its addresses it uses', async () => {
  const service = await sharedTestApp(behindProxy);
  const addresses = (index: number) =>
    index % 2 === 0 ? `2001:db8:1:2::${index}` : `2001:db8:1:2:a:b:c:${index}`;
  assert.deepEqual(await tries(service, (index) => ({ 'x-forwarded-for': addresses(index) })), limited);
  const networks = (index: number) => ({ 'x-forwarded-for': `2001:db8:1:${index + 100}::1` });
  assert.deepEqual(await tries(service, networks), free);
  const mapped = (index: number) => (index % 2 === 0 ? '::ffff:198.51.100.9' : '198.51.100.9');
  assert.deepEqual(await tries(service, (index) => ({ 'x-forwarded-for': mapped(index) })), limited);
});
