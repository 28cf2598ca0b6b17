/** The proxies of docs/guides/operating.md, taken out of it: who asks is known and cannot be claimed, and streams come at once. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { run } from '../../lab/command.ts';
import { root } from '../../scripts/commands.ts';
import { callApi } from '../support/app.ts';
import { newInstance } from '../support/instance.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import { Mailbox } from '../support/mailbox.ts';
import { until } from '../support/until.ts';

const lab = await openLab();
const guide = readFileSync(join(root, 'docs/guides/operating.md'), 'utf8');
const host = 'deploy.example.com';

/** How each is run with its part of the guide. */
const fronts = {
  nginx: {
    mounts: ['/srv/front/nginx:/etc/nginx/conf.d/default.conf', `/srv/front/tls:/etc/ssl/${host}`],
    command: [],
    image: 'nginx',
  },
  haproxy: {
    mounts: ['/srv/front/haproxy:/etc/haproxy/front.cfg', `/srv/front/tls/both.pem:/etc/haproxy/${host}.pem`],
    command: ['haproxy', '-db', '-f', '/etc/haproxy/front.cfg'],
    image: 'haproxy:3.0',
  },
} as const;

/** A service that trusts this server's address, and a certificate for its name on it. */
async function startScene(t: TestContext, server: TestServer) {
  const { dataDir, start } = newInstance(t);
  const url = await start({
    SLIPWAY_HOST: lab.about.address,
    SLIPWAY_PUBLIC_URL: `https://${host}`,
    SLIPWAY_TRUSTED_PROXIES: server.about.address,
    SLIPWAY_MONITOR_LISTEN: 'main',
    SLIPWAY_MONITOR_TOKEN: 'for-the-monitor-alone',
  }).url();
  const person = { email: 'ada@example.com', password: 'correct horse battery' };
  await callApi(url, 'POST', '/auth/register', { body: person });
  const code = await new Mailbox(join(dataDir, 'outbox')).code(person.email);
  await callApi(url, 'POST', '/auth/verify-otp', { body: { email: person.email, code } });
  await server.ssh(`mkdir -p /srv/front/tls && cd /srv/front/tls &&
    openssl req -x509 -newkey rsa:2048 -noenc -keyout key.pem -out fullchain.pem -days 2 -subj /CN=${host} \
      -addext subjectAltName=DNS:${host} 2>/dev/null && cat fullchain.pem key.pem > both.pem && chmod 644 *`);
  const caFile = join(dirname(dataDir), 'front.pem');
  writeFileSync(caFile, await server.ssh('cat /srv/front/tls/fullchain.pem'));
  const place = ['--cacert', caFile, '--resolve', `${host}:443:${server.about.address}`];
  const curl = (...args: string[]) => ['--silent', '--show-error', ...place, ...args];
  return { url, person, curl };
}

test('the examples for nginx and HAProxy in the guide do what it says', async (t) => {
  const server = await lab.fresh(t, 'docker');
  const { url, person, curl } = await startScene(t, server);
  const at = (path: string) => `https://${host}${path}`;
  for (const [kind, { image, mounts, command }] of Object.entries(fronts)) {
    await t.test(kind, async (t) => {
      const config = guide.split(`\`\`\`${kind}\n`)[1]?.split('```')[0] ?? '';
      assert.ok(config.includes('127.0.0.1:4400'));
      await server.ssh(`cat > /srv/front/${kind}`, config.replaceAll('127.0.0.1:4400', new URL(url).host));
      const volumes = mounts.flatMap((each) => ['--volume', `${each}:ro`]);
      const words = ['--network', 'host', '--user', '0', ...volumes, image, ...command];
      await server.ssh(`docker run --detach --name front ${words.join(' ')}`);
      t.after(() => server.ssh('docker logs front 2>&1 | tail -20; docker rm --force front'));
      const status = (path: string) =>
        run('curl', curl('--output', '/dev/null', '--write-out', '%{http_code}', at(path)));
      const isUp = async () => (await status('/healthz').catch(() => '')) === '200';
      await until(isUp, 'the proxy').catch(async (error) => {
        throw new Error(await server.ssh('docker logs front 2>&1'), { cause: error });
      });
      assert.deepEqual(await Promise.all(['/metrics', '/readyz'].map(status)), ['404', '404']);

      const claims = [
        'x-forwarded-for: 198.51.100.7',
        'x-forwarded-proto: http',
        'forwarded: for=198.51.100.7',
      ];
      const claimed = claims.flatMap((each) => ['--header', each]);
      const signIn = curl('--json', JSON.stringify(person), ...claimed, at('/api/v1/auth/login'));
      const { accessToken: token } = JSON.parse(await run('curl', signIn));
      const { items } = Object((await callApi(url, 'GET', '/auth/sessions', { token })).body);
      const own = items.find((each: { current: boolean }) => each.current);
      assert.equal(own.ip, lab.about.address, 'who asked, and not the proxy or what was claimed');

      const stream = spawn(
        'curl',
        curl('--no-buffer', '-H', `authorization: Bearer ${token}`, at('/api/v1/events')),
      );
      t.after(() => stream.kill());
      let heard = '';
      stream.stdout.setEncoding('utf8').on('data', (text: string) => {
        heard += text;
      });
      await until(() => heard.includes('retry:'), 'the beginning of the stream');
      const body = { name: `web-${kind}`, host: '203.0.113.10', auth: { type: 'generated' } };
      assert.equal((await callApi(url, 'POST', '/servers', { token, body })).status, 201);
      await until(() => /^data: /m.test(heard), `an event at once: ${heard}`);
      await until(() => /^:$/m.test(heard), 'a sign of life');
    });
  }
});
