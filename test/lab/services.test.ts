import assert from 'node:assert/strict';
import { createHmac, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import acme from 'acme-client';
import { createTransport } from 'nodemailer';
import { run } from '../../lab/command.ts';
import { getOver } from '../../lab/services/acme.ts';
import type { CaughtRequest } from '../../lab/services/catcher/catcher.ts';
import { createEgress } from '../../src/adapters/egress/egress.ts';
import { createS3Storage } from '../../src/adapters/storage/s3/s3-storage.ts';
import { Secret } from '../../src/secret.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();
const { about, client } = lab;

test('a commit pushed to the Git host arrives as a signed webhook, and the API knows it', async (t) => {
  const { url, api, login, token } = about.git;
  const name = `pushed-${process.pid}`;
  await client.call('POST', '/git/repositories', { owner: login, name, private: true });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const hook = { url: `${about.catcher}/${name}`, content_type: 'json', secret: 'a secret of ours' };
  const body = JSON.stringify({ name: 'web', events: ['push'], config: hook });
  const made = await fetch(`${api}/repos/${login}/${name}/hooks`, { method: 'POST', headers, body });
  assert.equal(made.status, 201, await made.text());

  const folder = scratch(t);
  const git = (...args: string[]) => run('git', args, { cwd: folder, env: { HOME: folder } });
  await git('init', '--quiet', '--initial-branch=main');
  writeFileSync(join(folder, 'hello.txt'), 'hello\n');
  await git('add', '.');
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@lab.test'];
  await git(...who, 'commit', '--quiet', '--message=Say hello');
  const address = url.replace('http://', `http://${login}:${token}@`);
  await git('push', '--quiet', `${address}/${login}/${name}.git`, 'main');
  const sha = (await git('rev-parse', 'HEAD')).trim();

  const caught = await nextPush(name);
  const text = caught.bodyText ?? '';
  const signed = `sha256=${createHmac('sha256', 'a secret of ours').update(text).digest('hex')}`;
  const sent = new Map(caught.headers.map(({ name: key, value }) => [key.toLowerCase(), value]));
  assert.equal(sent.get('x-hub-signature-256'), signed);
  const payload = JSON.parse(text);
  assert.deepEqual([payload.ref, payload.after], ['refs/heads/main', sha]);
  const branch = await fetch(`${api}/repos/${login}/${name}/branches/main`, { headers });
  assert.equal(Object(await branch.json()).commit.sha, sha);
});

async function nextPush(name: string): Promise<CaughtRequest> {
  for (;;) {
    const caught: CaughtRequest = await client.call('GET', `/requests/next?path=/${name}&timeoutMs=10000`);
    const event = caught.headers.find((each) => each.name.toLowerCase() === 'x-github-event')?.value;
    if (event === 'push') return caught;
    assert.equal(event, 'ping');
  }
}

test('a certificate can be had from the ACME authority for a name in the DNS, and for no other', async (t) => {
  const name = `cert.${about.dns.zone}`;
  await client.call('PUT', '/dns', { name, type: 'A', values: [about.address] });
  t.after(() => client.call('DELETE', `/dns?name=${name}`));
  const answers = new Map<string, string>();
  const web = createServer((request, response) => response.end(answers.get(request.url ?? '')));
  await new Promise<void>((resolve) => web.listen(80, about.address, resolve));
  t.after(() => web.close());

  // The authority's own address is signed by the lab, which this client does not trust by itself.
  acme.axios.defaults.httpsAgent = new (await import('node:https')).Agent({
    ca: readFileSync(about.acme.caFile),
  });
  const account = new acme.Client({
    directoryUrl: about.acme.directory,
    accountKey: await acme.crypto.createPrivateEcdsaKey(),
    backoffAttempts: 20,
    backoffMin: 100,
    backoffMax: 500,
  });
  const order = async (hostname: string) => {
    const [, csr] = await acme.crypto.createCsr({ commonName: hostname });
    return account.auto({
      csr,
      termsOfServiceAgreed: true,
      skipChallengeVerification: true,
      challengePriority: ['http-01'],
      challengeCreateFn: async (_authz, challenge, keyAuthorization) => {
        answers.set(`/.well-known/acme-challenge/${challenge.token}`, keyAuthorization);
      },
      challengeRemoveFn: async () => undefined,
    });
  };
  const chain = await order(name);
  const certificate = new X509Certificate(chain);
  assert.equal(certificate.checkHost(name), name);
  const rootPem = await getOver(`${about.acme.management}/roots/0`, about.acme.caFile);
  const issuer = new X509Certificate(chain.slice(chain.indexOf('-----BEGIN', 10)));
  assert.ok(certificate.checkIssued(issuer));
  assert.ok(issuer.verify(new X509Certificate(rootPem).publicKey));
  await assert.rejects(order(`nobody.${about.dns.zone}`), /could not resolve/);
});

test('mail sent to the SMTP server can be read back', async () => {
  const to = `reader-${process.pid}@lab.test`;
  const transport = createTransport(about.smtp);
  await transport.sendMail({ from: 'ada@lab.test', to, subject: 'Grüße', text: 'Es läuft.' });
  transport.close();
  const mail = await client.call<{ subject: string; text: string }>(
    'GET',
    `/mail/next?to=${to}&timeoutMs=5000`,
  );
  assert.equal(mail.subject, 'Grüße');
  assert.match(mail.text, /Es läuft\./);
});

test('what is put into the bucket comes back byte for byte, and only for who has the keys', async (t) => {
  const { secretAccessKey, ...place } = about.s3;
  const egress = createEgress({ allowPrivate: true });
  t.after(() => egress.close());
  const having = (secret: string) =>
    createS3Storage({
      ...place,
      prefix: 'services',
      fetch: egress.fetch,
      secretAccessKey: new Secret(secret),
    });
  const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 251));
  const name = `dump-${process.pid}`;
  const { signal } = new AbortController();
  await having(secretAccessKey).put(name, Readable.from([bytes]), { signal });
  const read = having(secretAccessKey).read(name, { signal });
  assert.ok(Buffer.concat(await Array.fromAsync(read)).equals(bytes));
  const other = having('another').read(name, { signal });
  await assert.rejects(Array.fromAsync(other), { code: 'storage_refused' });
});

test('a message posted to Slack is in its channel', async () => {
  const call = async (method: string, body: object) => {
    const answer = await fetch(`${about.slack}/api/${method}`, {
      method: 'POST',
      headers: { authorization: 'Bearer xoxb-lab', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return Object(await answer.json());
  };
  const { channels } = await call('conversations.list', {});
  const channel = channels.find((each: { name: string }) => each.name === 'deploys').id;
  const text = `deployed by ${process.pid}`;
  assert.equal((await call('chat.postMessage', { channel, text })).ok, true);
  const { messages } = await call('conversations.history', { channel });
  assert.ok(messages.some((each: { text: string }) => each.text === text));
});

test('the settings that the lab prints are ones the service knows', async () => {
  const { readConfig } = await import('../../src/config.ts');
  const config = readConfig(about.settings);
  assert.equal(config.host, about.address);
});

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-test-git-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
