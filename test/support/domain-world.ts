/** An application with names of its own in the lab: what its visitors, its authority and its service say of them. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import type { TestContext } from 'node:test';
import { getOver } from '../../lab/services/acme.ts';
import { renewDueCertificates } from '../../src/areas/domains/domain-schedules.ts';
import { sql } from '../../src/store/sql.ts';
import { type Body, type DeployScene, startDeployScene, succeeded } from './deployments.ts';
import type { TestLab, TestServer } from './lab.ts';
import { plainApp, plainSettings, versionVariable } from './plain-app.ts';
import { visitTls } from './proxy-tls.ts';
import { until } from './until.ts';

/** Says what it was told of the visitor. */
const mirror = `const { createServer } = require('node:http');
const version = process.env.APP_VERSION ?? 'none';
const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ version, headers: request.headers }));
});
server.listen(process.env.PORT, '0.0.0.0');
process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  setInterval(() => server.closeIdleConnections(), 100).unref();
});
`;

export class World {
  readonly scene: DeployScene;
  readonly environmentId: string;
  readonly ca: string;
  /** Where it stands. */
  server: TestServer;

  constructor(scene: DeployScene, environmentId: string, ca: string) {
    this.scene = scene;
    this.environmentId = environmentId;
    this.ca = ca;
    this.server = scene.server;
  }

  get address(): string {
    return this.server.about.address;
  }

  get app() {
    return this.scene.git.service.app;
  }

  place(host: string) {
    return { address: this.address, host, ca: this.ca };
  }

  /** The clock of the service stands still otherwise, and certificates are made in the lab's time. */
  async setClock(): Promise<void> {
    const { clock } = this.scene.git.service;
    clock.advance(Date.now() - clock.now().getTime());
  }

  connect(body: Body): Promise<Body> {
    return this.scene.call('POST', `/environments/${this.environmentId}/domain?force=true`, body);
  }

  async named(hostname: string): Promise<Body> {
    const { items } = await this.scene.call('GET', `/environments/${this.environmentId}/domains`);
    const found = Object(items).find((each: Body) => each.hostname === hostname);
    assert.ok(found, `${hostname} is not among the names`);
    return found;
  }

  issued(hostname: string): Promise<Body> {
    return until(async () => {
      const found = await this.named(hostname);
      const { status, fault } = Object(found.certificate);
      assert.notEqual(status, 'failed', JSON.stringify(fault));
      return status === 'issued' ? found : undefined;
    }, `the certificate of ${hostname}`);
  }

  /** Once it answers so over TLS, chain and name verified. */
  async answers(status: number, host: string, path = '/') {
    let last = '';
    return until(async () => {
      try {
        const answer = await visitTls(this.place(host), path);
        last = `${answer.status} ${answer.text.slice(0, 200)}`;
        return answer.status === status ? answer : undefined;
      } catch (error) {
        last = String(error);
        return undefined;
      }
    }, `${status} from https://${host}${path}`).catch((error) => assert.fail(`${error}: ${last}`));
  }

  async operation(path: string): Promise<void> {
    const { id } = await this.scene.call('POST', `/environments/${this.environmentId}/${path}`);
    await until(async () => {
      const found = await this.scene.call('GET', `/operations/${id}`);
      assert.notEqual(found.status, 'failed', JSON.stringify(found.fault));
      return found.status === 'succeeded' || undefined;
    }, path);
  }

  async row(hostname: string) {
    const row = await this.app.store.db.one<{ id: string; chain: string; renewAt: Date }>(sql`
      select id, chain, renew_at as "renewAt" from certificates where ${hostname} = any(names)`);
    assert.ok(row, `no certificate for ${hostname}`);
    return row;
  }

  /** As the clock would have it at the end of its life. */
  async comeDue(hostname: string): Promise<void> {
    await this.setClock();
    const now = this.app.contexts.domains.clock.now();
    await this.app.store.db.run(sql`
      update certificates set not_before = ${now}::timestamptz - interval '80 days',
        not_after = ${now}::timestamptz + interval '10 days', renew_at = ${now} where ${hostname} = any(names)`);
    await renewDueCertificates(this.app.contexts.domains);
  }
}

export async function startWorld(t: TestContext, lab: TestLab): Promise<World> {
  const { about } = lab;
  const env = {
    SLIPWAY_DNS_SERVERS: `${about.dns.address}:${about.dns.port}`,
    SLIPWAY_ACME_DIRECTORY: about.acme.directory,
    SLIPWAY_ACME_CA_FILE: about.acme.caFile,
  };
  const scene = await startDeployScene(t, lab, { env });
  const { environmentId, deployment } = await scene.deployed({
    files: { ...plainApp(), 'server.js': mirror },
    settings: plainSettings,
    variables: [versionVariable('one')],
  });
  succeeded(deployment);
  const ca = await getOver(`${about.acme.management}/roots/0`, about.acme.caFile);
  return new World(scene, environmentId, ca);
}

/** What the authority itself says of a certificate. */
export async function statusOf({ about }: TestLab, chain: string): Promise<string> {
  const { serialNumber } = new X509Certificate(chain);
  const path = `/cert-status-by-serial/${serialNumber.toLowerCase().replace(/^0+/, '')}`;
  return Object(JSON.parse(await getOver(`${about.acme.management}${path}`, about.acme.caFile))).Status;
}

export const fingerprint = (chain: string) => new X509Certificate(chain).fingerprint256;
