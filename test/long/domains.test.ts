import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { attempt } from '../../lab/command.ts';
import { createAcme } from '../../src/adapters/acme/acme.ts';
import { beginLooks } from '../../src/areas/reconcile/reconcile-environments.ts';
import { hour, minute } from '../../src/clock.ts';
import { sql } from '../../src/store/sql.ts';
import { addServer, succeeded } from '../support/deployments.ts';
import { fingerprint, startWorld, statusOf, type World } from '../support/domain-world.ts';
import { openLab } from '../support/lab.ts';
import { noticesIn } from '../support/notifications.ts';
import { versionVariable } from '../support/plain-app.ts';
import { visit } from '../support/proxy.ts';
import { shownFor, TlsVisitors, visitTls } from '../support/proxy-tls.ts';
import { until } from '../support/until.ts';

const lab = await openLab();
const { about, client } = lab;

const zone = `shop-${process.pid}.${about.dns.zone}`;
const api = `api.${zone}`;
const setRecord = (name: string, type: string, values: readonly string[]) =>
  client.call('PUT', '/dns', { name, type, values });

test('from a registered domain to https, and everything that happens to a name after that', async (t) => {
  const world = await startWorld(t, lab);
  const { scene, environmentId, address } = world;
  await fromDomainToHttps(t, world);

  await t.test('the application sees who asks and how, whatever a visitor claims', async () => {
    const headers = {
      'x-forwarded-for': '1.2.3.4',
      'x-forwarded-proto': 'http',
      forwarded: 'for=1.2.3.4',
      'x-forwarded-host': 'evil.test',
      'x-real-ip': '1.2.3.4',
      'x-forwarded-port': '1',
    };
    const seen = JSON.parse((await visitTls(world.place(zone), '/', { headers })).text).headers;
    const own = JSON.parse((await visitTls(world.place(zone))).text).headers;
    assert.match(own['x-forwarded-for'], /^10\.213\.\d+\.\d+$/);
    assert.equal(seen['x-forwarded-for'], own['x-forwarded-for']);
    assert.equal(seen['x-forwarded-proto'], 'https');
    assert.equal(seen.host, zone);
    assert.ok(!JSON.stringify(seen).includes('1.2.3.4'), JSON.stringify(seen));
    assert.ok(!JSON.stringify(seen).includes('evil.test'), JSON.stringify(seen));
  });

  await t.test(
    'http and the partner with www lead to the name, which browsers are told to keep',
    async () => {
      const plain = await until(async () => {
        const answer = await visit(`http://${address}/a?b=c`, { headers: { host: zone } });
        return answer.status === 200 ? undefined : answer;
      }, 'the redirect');
      assert.ok([301, 308].includes(plain.status), String(plain.status));
      assert.equal(plain.headers.location, `https://${zone}/a?b=c`);
      const www = await visitTls(world.place(`www.${zone}`), '/a?b=c');
      assert.ok([301, 308].includes(www.status), String(www.status));
      assert.equal(www.headers.location, `https://${zone}/a?b=c`);
      const page = await world.answers(200, zone);
      assert.match(String(page.headers['strict-transport-security']), /max-age=600/);
      const other = await world.answers(200, api);
      assert.equal(other.headers['strict-transport-security'], undefined);
    },
  );

  await t.test('a redeployment and a rollback keep the names, without a failed request', async (t) => {
    const visitors = new TlsVisitors(t, world.place(zone), { kept: 4, fresh: 1 });
    const { currentDeploymentId: before } = await scene.call('GET', `/environments/${environmentId}`);
    const variables = [versionVariable('two')];
    await scene.call('POST', `/environments/${environmentId}/variables`, { variables });
    succeeded(await scene.deploy(environmentId));
    assert.equal(JSON.parse((await world.answers(200, zone)).text).version, 'two');
    const path = `/environments/${environmentId}/deployments/${before}/rollback`;
    const { id } = await scene.call('POST', path, { variables: 'then' });
    succeeded(await scene.ended(environmentId, String(id)));
    assert.equal(JSON.parse((await world.answers(200, api)).text).version, 'one');
    await visitors.end();
    assert.deepEqual(visitors.failures, []);
  });

  await t.test('a certificate that comes due is renewed by itself, without a failed request', async (t) => {
    const old = (await world.row(zone)).chain;
    const visitors = new TlsVisitors(t, world.place(zone));
    await world.comeDue(zone);
    await until(async () => {
      const row = await world.row(zone);
      const shown = await shownFor(address, zone);
      return row.chain !== old && shown === fingerprint(row.chain) ? true : undefined;
    }, 'the next certificate');
    await visitors.end();
    assert.deepEqual(visitors.failures, []);
    await until(
      async () => ((await world.row(zone)).renewAt.getTime() > Date.now() + 24 * hour ? true : undefined),
      'the time of the next renewal',
    );
  });

  await t.test('an account that the authority has forgotten is made again', async () => {
    const { chain } = await world.row(api);
    await world.app.store.db.run(sql`update acme_accounts set account_url = account_url || '0000'`);
    await world.comeDue(api);
    await until(async () => {
      const { fault } = Object((await world.named(api)).certificate);
      assert.equal(fault, null, JSON.stringify(fault));
      return (await world.row(api)).chain === chain ? undefined : true;
    }, 'the next certificate');
  });

  await t.test(
    'an authority that fails leaves the old one serving, and is asked again in its own time',
    (t) => failingAuthority(t, world),
  );

  await t.test('the proxy serves on after a restart; what is lost on the server is put back', async () => {
    await scene.server.ssh('sudo docker restart slipway-proxy >/dev/null');
    await world.answers(200, zone);
    const { id, chain } = await world.row(zone);
    const file = `/var/lib/slipway/proxy/certificates/${id}.pem`;
    assert.match(await scene.server.ssh(`sudo stat -c '%a %U' ${file}`), /^600 /);
    await scene.server.ssh(
      `sudo sh -c 'rm ${file}; sed -i /${id}/d /var/lib/slipway/proxy/config/certificates.list; docker restart slipway-proxy' >/dev/null`,
    );
    await until(async () => {
      const shown = await shownFor(address, zone).catch(() => fingerprint(chain));
      return shown === fingerprint(chain) ? undefined : true;
    }, 'the proxy without it');
    await world.setClock();
    const now = new Date(world.app.contexts.domains.clock.now().getTime() + 2 * minute);
    await Promise.all(await beginLooks({ ...world.app.contexts.reconcile, clock: { now: () => now } }));
    await until(
      async () => ((await shownFor(address, zone)) === fingerprint(chain) ? true : undefined),
      'the certificate to be put back',
    );
  });

  await t.test(
    'a stopped application is told as such over https, and comes back with its names',
    async () => {
      await world.operation('stop');
      const stopped = await world.answers(503, zone);
      assert.match(String(stopped.headers['retry-after']), /^\d+$/);
      await world.operation('start');
      await world.answers(200, zone);
    },
  );

  await t.test('a name that is taken away takes its certificate with it, and no other', async () => {
    const { id, chain } = await world.row(api);
    const { id: nameId } = await world.named(api);
    await scene.call('DELETE', `/environments/${environmentId}/domains/${nameId}`);
    await until(
      async () => ((await statusOf(lab, chain)) === 'Revoked' ? true : undefined),
      'the certificate to be revoked',
    );
    await until(async () => {
      const plain = await visit(`http://${address}/`, { headers: { host: api } });
      return plain.status === 404 || plain.status === 421 ? true : undefined;
    }, 'the name to lead nowhere');
    const files = await scene.server.ssh('sudo ls /var/lib/slipway/proxy/certificates');
    assert.ok(!files.includes(id), files);
    assert.notEqual(await shownFor(address, api), fingerprint(chain));
    await world.answers(200, zone);
  });

  await t.test(
    'a move shows the certificate before anyone is sent to it, and a deletion leaves nothing',
    async (t) => {
      const server = await lab.fresh(t, 'provisioned');
      const serverId = await addServer(scene.git, server);
      const { chain, id } = await world.row(zone);
      const { deployment } = await scene.call('PATCH', `/environments/${environmentId}/server`, { serverId });
      const http = `http://${server.about.address}/`;
      // From the first redirect on, https has to be right.
      const watched = until(async () => {
        const answer = await visit(http, { headers: { host: zone } }).catch(() => undefined);
        return answer?.status === 301 || answer?.status === 308
          ? shownFor(server.about.address, zone)
          : undefined;
      }, 'the first redirect on the new server');
      succeeded(await scene.ended(environmentId, String(Object(deployment).id)));
      assert.equal(await watched, fingerprint(chain));
      const files = await scene.server.ssh('sudo ls /var/lib/slipway/proxy/certificates');
      assert.ok(!files.includes(id), files);
      world.server = server;
      await world.answers(200, zone);
      await deleteEnvironment(world);
    },
  );
});

/** Last of all. */
async function deleteEnvironment(world: World): Promise<void> {
  const { id, chain } = await world.row(zone);
  await world.scene.call('DELETE', `/environments/${world.environmentId}?deleteData=true`);
  const { db } = world.app.store;
  await until(async () => {
    const left = await db.rows(sql`select id from certificates union all select id from environment_domains`);
    return left.length === 0 ? true : undefined;
  }, 'the certificate to be forgotten');
  assert.equal(await statusOf(lab, chain), 'Revoked');
  assert.notEqual(await shownFor(world.address, zone), fingerprint(chain));
  const files = await world.server.ssh('sudo ls /var/lib/slipway/proxy/certificates');
  assert.ok(!files.includes(id), files);
}

async function fromDomainToHttps(t: TestContext, world: World): Promise<void> {
  const { scene, environmentId, address } = world;
  const domain = await scene.call('POST', '/domains', { hostname: zone });
  assert.deepEqual([domain.status, domain.hostname], ['pending', zone]);
  const { name, value } = Object(domain.verification);
  const unproven = await scene.call('POST', `/domains/${domain.id}/verify`);
  assert.equal(unproven.status, 'failed');
  await setRecord(name, 'TXT', [value]);
  for (const each of [zone, `www.${zone}`, api]) {
    await setRecord(each, 'A', [address]);
    t.after(() => client.call('DELETE', `/dns?name=${each}`));
  }
  t.after(() => client.call('DELETE', `/dns?name=${name}`));
  const proven = await scene.call('POST', `/domains/${domain.id}/verify`);
  assert.equal(proven.status, 'verified', JSON.stringify(proven.lastCheck));

  await world.setClock();
  const connected = await world.connect({ hostname: zone, www: 'redirect_to_apex', hstsSeconds: 600 });
  assert.ok(connected.operationId);
  await world.connect({ hostname: api, redirectHttp: false });
  assert.equal((await world.issued(zone)).url, `https://${zone}`);
  await world.issued(api);
  await world.answers(200, zone);
  await world.answers(200, api);

  const folder = mkdtempSync(join(tmpdir(), 'slipway-domain-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'root.pem');
  writeFileSync(file, world.ca);
  const to = ['--resolve', `${zone}:443:${address}`, '-w', '%{http_code} %{http_version}'];
  const { stdout } = await attempt('curl', ['-s', '--cacert', file, ...to, `https://${zone}/`]);
  assert.match(stdout, /"version":"one".*200 2$/s);
  const environment = await scene.call('GET', `/environments/${environmentId}`);
  assert.equal(environment.url, `https://${zone}`);
}

async function failingAuthority(t: TestContext, world: World): Promise<void> {
  const { authority, clock } = world.app.contexts.domains;
  const { chain } = await world.row(zone);
  const bad = { status: 200, body: 'hello', headers: {} as Record<string, string> };
  const server = createServer((_, response) => {
    response.writeHead(bad.status, { 'content-type': 'application/problem+json', ...bad.headers });
    response.end(bad.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const right = authority.acme;
  const limited = {
    type: 'urn:ietf:params:acme:error:rateLimited',
    detail: 'too many certificates already issued for this domain',
  };
  const cases = [
    [200, 'hello', {}, 'acme_nonsense', /cannot be understood/, 2 * minute],
    [500, 'down for repairs', {}, 'acme_unreachable', /out of order/, 10 * minute],
    [
      429,
      JSON.stringify(limited),
      { 'retry-after': '90000' },
      'acme_rate_limited',
      /too many cert/,
      25 * hour,
    ],
  ] as const;
  for (const [status, body, headers, code, words, leastMs] of cases) {
    Object.assign(bad, { status, body, headers });
    const wait = async () => undefined;
    const directoryUrl = `http://127.0.0.1:${port}/dir`;
    const acme = createAcme({ directoryUrl, userAgent: 'slipway', fetch, clock, wait });
    Object.assign(authority, { acme: async () => acme });
    const { renewAt: before } = await world.row(zone);
    await world.comeDue(zone);
    const { certificate } = await until(async () => {
      const found = await world.named(zone);
      return Object(Object(found.certificate).fault).code === code ? found : undefined;
    }, code);
    const { fault, status: shown } = Object(certificate);
    assert.match(fault.message, words);
    assert.equal(shown, 'issued', 'the one before goes on serving');
    const { renewAt } = await world.row(zone);
    const inMs = renewAt.getTime() - clock.now().getTime();
    assert.ok(inMs >= leastMs && inMs <= leastMs * 1.2 + 1_000, `${code}: again in ${inMs} ms, ${before}`);
    assert.equal(await shownFor(world.address, zone), fingerprint(chain));
  }
  const failing = (await noticesIn(world)).filter(({ kind }) => kind === 'certificate_failing');
  assert.deepEqual(
    failing.map(({ data }) => Object(data.fault).code),
    ['acme_nonsense'],
    'told with the first failure after a success',
  );
  const told = await world.app.store.db.rows(sql`
    select 1 from events where kind = 'domain_updated' and data->>'status' = 'failed'
      and data->>'reason' = 'certificate'`);
  assert.equal(told.length, 3);
  Object.assign(authority, { acme: right });
  let dueAt = 0;
  await until(async () => {
    if (Object((await world.named(zone)).certificate).fault === null) return true;
    // The failed one before may not be quite over: then it comes due once more.
    if (Date.now() > dueAt) {
      dueAt = Date.now() + 10_000;
      await world.comeDue(zone);
    }
    return undefined;
  }, 'the fault to be forgotten');
  await world.answers(200, zone);
}
