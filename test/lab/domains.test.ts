import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { attempt } from '../../lab/command.ts';
import { getOver } from '../../lab/services/acme.ts';
import { type Body, sample, startDeployScene, succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { until } from '../support/service.ts';

const lab = await openLab();
const { about, client } = lab;

const env = {
  SLIPWAY_DNS_SERVERS: `${about.dns.address}:${about.dns.port}`,
  SLIPWAY_ACME_DIRECTORY: about.acme.directory,
  SLIPWAY_ACME_CA_FILE: about.acme.caFile,
};

const setRecord = (name: string, type: string, values: readonly string[]) =>
  client.call('PUT', '/dns', { name, type, values });

test('from a registered domain to https with a certificate of the authority, through the API alone', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-domain-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const scene = await startDeployScene(t, lab, { env });
  const { environmentId, deployment } = await scene.deployed({ files: sample('static-page') });
  succeeded(deployment);

  const hostname = `shop-${process.pid}.${about.dns.zone}`;
  const domain = await scene.call('POST', '/domains', { hostname });
  assert.deepEqual([domain.status, domain.hostname], ['pending', hostname]);
  const { name, value } = Object(domain.verification);
  const unproven = await scene.call('POST', `/domains/${domain.id}/verify`);
  assert.equal(unproven.status, 'failed');
  await setRecord(name, 'TXT', [value]);
  await setRecord(hostname, 'A', [scene.server.about.address]);
  t.after(() => client.call('DELETE', `/dns?name=${hostname}`));
  t.after(() => client.call('DELETE', `/dns?name=${name}`));
  const proven = await scene.call('POST', `/domains/${domain.id}/verify`);
  assert.equal(proven.status, 'verified', JSON.stringify(proven.lastCheck));

  const body = { hostname, ssl: { mode: 'auto' } };
  const connected = await scene.call('POST', `/environments/${environmentId}/domain`, body);
  assert.ok(connected.operationId);
  const path = `/environments/${environmentId}/domains/${connected.id}`;
  const issued: Body = await until(
    async () => {
      const found = await scene.call('GET', path);
      const { status, fault } = Object(found.certificate);
      assert.notEqual(status, 'failed', JSON.stringify(fault));
      return status === 'issued' ? found : undefined;
    },
    120_000,
    'the certificate',
  );
  assert.equal(issued.url, `https://${hostname}`);

  const ca = join(folder, 'root.pem');
  writeFileSync(ca, await getOver(`${about.acme.management}/roots/0`, about.acme.caFile));
  const to = `${hostname}:443:${scene.server.about.address}`;
  const plain = `${hostname}:80:${scene.server.about.address}`;
  const page = await until(
    async () => {
      const args = [
        '-s',
        '--cacert',
        ca,
        '--resolve',
        to,
        '-w',
        '%{http_code} %{http_version}',
        `https://${hostname}/`,
      ];
      const { stdout } = await attempt('curl', args);
      return stdout.endsWith('200 2') ? stdout : undefined;
    },
    60_000,
    'the page over https',
  );
  assert.match(page, /<html/);
  const redirected = await until(
    async () => {
      const args = [
        '-s',
        '-o',
        '/dev/null',
        '--resolve',
        plain,
        '-w',
        '%{http_code} %{redirect_url}',
        `http://${hostname}/a?b=c`,
      ];
      const { stdout } = await attempt('curl', args);
      return stdout.startsWith('30') ? stdout : undefined;
    },
    60_000,
    'the redirect',
  );
  assert.match(redirected, new RegExp(`^30[18] https://${hostname}/a\\?b=c$`));
  const environment = await scene.call('GET', `/environments/${environmentId}`);
  assert.equal(environment.url, `https://${hostname}`);
});
