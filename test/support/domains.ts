/** A service whose name servers are a scene on loopback, with people who have environments of their own. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { Answer } from './app.ts';
import { dnsOf, type Scene, startScene } from './dns-scene.ts';
import { type EnvironmentScene, startEnvironmentScene } from './environments.ts';
import { newPerson } from './people.ts';
import { analysed, newProject } from './projects.ts';

export type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>;

export interface DomainScene extends EnvironmentScene {
  readonly zone: Scene;
  /** Nobody else's: a name that was proven is its prover's in the whole instance. */
  readonly apex: string;
  /** One more environment of the first person's project. */
  another(name: string): Promise<string>;
  /** Someone with a workspace and an environment of their own. */
  stranger(): Promise<{ ask: Ask; environmentId: string }>;
  /** Registered, and its record put into the zone. */
  registered(ask: Ask, hostname: string): Promise<Record<string, unknown>>;
  verified(ask: Ask, hostname: string): Promise<Record<string, unknown>>;
}

export async function startDomainScene(t: TestContext): Promise<DomainScene> {
  const zone = await startScene(t);
  const env = { SLIPWAY_LIMIT_SEARCH: '100000' };
  const scene = await startEnvironmentScene(t, { env });
  const { service, ask: own } = scene;
  // Zones' own servers listen on port 53, which a test cannot have.
  const dns = dnsOf(zone.port, [`127.60.0.9:${zone.port}`], { timeoutMs: 10_000, checkMs: 60_000 });
  Object.assign(service.app.contexts.domains, { dns: async () => dns });
  const registered: DomainScene['registered'] = async (ask, hostname) => {
    const made = await ask('POST', '/domains', { hostname });
    assert.equal(made.status, 201, made.text);
    const { name, value } = Object(made.body.verification);
    zone.set(name, 'TXT', [value]);
    return made.body;
  };
  return {
    ...scene,
    zone,
    apex: `${randomBytes(4).toString('hex')}.example.test`,
    registered,
    another: async (name) => {
      const made = await own('POST', '/environments', { projectId: scene.projectId, name });
      assert.equal(made.status, 201, made.text);
      return String(made.body.id);
    },
    stranger: async () => {
      const { token } = await newPerson(service);
      const ask: Ask = (method, path, body) =>
        service.call(method, path, { token, ...(body !== undefined && { body }) });
      const git = { provider: 'github', token: scene.gitToken, baseUrl: scene.host.url };
      const provider = await ask('POST', '/git-provider/save-token', git);
      assert.ok(provider.status < 300, provider.text);
      const repository = { providerId: provider.body.id, fullName: 'ada/shop' };
      const { id } = await newProject(service, token, { name: 'Theirs', repository });
      await analysed(service, token, id);
      const done = await ask('POST', `/projects/${id}/finalize`, { environment: { name: 'production' } });
      assert.equal(done.status, 200, done.text);
      return { ask, environmentId: String(Object(done.body.environment).id) };
    },
    verified: async (ask, hostname) => {
      const { id } = await registered(ask, hostname);
      const seen = await ask('POST', `/domains/${id}/verify`);
      assert.equal(seen.body.status, 'verified', seen.text);
      return seen.body;
    },
  };
}

export function findingsOf(domain: Record<string, unknown>): { code: string; message: string }[] {
  return Object(domain.lastCheck).findings;
}
