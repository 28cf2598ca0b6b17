/**
 * What the trials stand on: a lab server with two environments of the sample, a Git host, and two processes of the
 * service on one database. Everything is asked over the API of whichever process answers.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LabClient } from '../../lab/client.ts';
import type { LabDescription, ServerDescription } from '../../lab/description.ts';
import { type GitHost, startGitHost } from '../../lab/services/git/git-host.ts';
import { createLog } from '../../src/log.ts';
import { createRemotePool } from '../../src/remote/pool.ts';
import type { Remote, RemotePool } from '../../src/remote/remote.ts';
import { type Answer, callApi } from '../support/app.ts';
import { enoughScopes } from '../support/git.ts';
import { TestServer } from '../support/lab.ts';
import { Mailbox } from '../support/mailbox.ts';
import { temporaryFolder } from '../support/postgres.ts';
import { targetOf } from '../support/remote.ts';
import { until } from '../support/service.ts';
import { Host, hostSettings, usualLeaseMs } from './hosts.ts';
import { Orders } from './orders.ts';
import { filesOf, sampleSettings, type Version } from './sample.ts';

export type Body = Record<string, unknown>;

const person = { email: 'ada@example.com', password: 'a long enough password' };
const patienceMs = 300_000;

export class Ground {
  readonly lab: LabClient;
  readonly server: ServerDescription;
  readonly orders = new Orders();
  readonly hosts: readonly [Host, Host];
  /** The one that is deployed to, and the one that nothing may happen to. */
  environmentId = '';
  otherId = '';
  url = '';
  otherUrl = '';
  readonly remote: Remote;
  readonly leaseMs: number;
  readonly #pool: RemotePool;
  readonly #git: GitHost;
  readonly #gitDir: string;
  readonly #versions = new Map<string, string>();
  #token = '';
  #isOpen = true;

  private constructor(
    lab: LabClient,
    about: LabDescription,
    server: ServerDescription,
    git: GitHost,
    gitDir: string,
    databaseUrl: string,
    leaseMs: number,
  ) {
    this.lab = lab;
    this.server = server;
    this.#git = git;
    this.#gitDir = gitDir;
    this.leaseMs = leaseMs;
    const settings = hostSettings(databaseUrl, this.orders.folder, leaseMs);
    this.hosts = [new Host(settings), new Host(settings)];
    this.#pool = createRemotePool(createLog('silent'));
    this.remote = this.#pool.to(targetOf(new TestServer(about, server)));
  }

  static async open(
    lab: LabClient,
    about: LabDescription,
    databaseUrl: string,
    { leaseMs = usualLeaseMs } = {},
  ): Promise<Ground> {
    const gitDir = temporaryFolder('git-host');
    const git = await startGitHost({ address: '127.0.0.1', port: 0, dir: gitDir });
    const server = await lab.addServer('docker');
    const ground = new Ground(lab, about, server, git, gitDir, databaseUrl, leaseMs);
    try {
      await ground.#furnish();
      return ground;
    } catch (error) {
      await ground.close();
      throw error;
    }
  }

  async #furnish(): Promise<void> {
    const [first, second] = this.hosts;
    // Alone until all is there: the mail with the code is in the outbox of whoever sends it, and mirrors where they are made.
    await first.start();
    await this.call('POST', '/auth/register', person);
    const code = await new Mailbox(join(first.dataDir, 'outbox')).code(person.email);
    await this.call('POST', '/auth/verify-otp', { email: person.email, code });
    this.#git.createAccount({ login: 'ada', kind: 'user' });
    const { token } = this.#git.createToken({ login: 'ada', scopes: enoughScopes });
    const saved = await this.call('POST', '/git-provider/save-token', {
      ...{ provider: 'github', token, baseUrl: this.#git.url },
    });
    const serverId = await this.#addServer();
    const environments = [];
    for (const name of ['one', 'other'])
      environments.push(await this.#create(name, String(saved.id), serverId));
    [this.environmentId = '', this.otherId = ''] = environments;
    [this.url, this.otherUrl] = [await this.#urlOf(this.environmentId), await this.#urlOf(this.otherId)];
    // So that there is always one to go back to.
    const { status, fault } = await this.ended(await this.deploy(await this.push({ name: 'second' })));
    assert.equal(status, 'succeeded', JSON.stringify(fault));
    await second.start();
  }

  async #addServer(): Promise<string> {
    const { name, address: host, port, user: username, keyFile } = this.server;
    const auth = { type: 'key', privateKey: readFileSync(keyFile ?? '', 'utf8') };
    const { id } = await this.call('POST', '/servers', { name, host, port, username, auth });
    const isReady = async () => (await this.call('GET', `/servers/${id}`)).status === 'ready' || undefined;
    await until(async () => (await isReady()) ?? sleep(200, undefined), patienceMs, 'the server to be ready');
    return String(id);
  }

  async #create(name: string, providerId: string, serverId: string): Promise<string> {
    const from = temporaryFolder('git-tree');
    mkdirSync(from, { recursive: true });
    for (const [path, text] of Object.entries(filesOf({ name: 'first' })))
      writeFileSync(join(from, path), text);
    const { sha } = await this.#git.createRepository({ owner: 'ada', name, private: true, from });
    this.#versions.set(sha ?? '', 'first');
    rmSync(from, { recursive: true });
    const project = await this.call('POST', '/projects', {
      name,
      repository: { providerId, fullName: `ada/${name}` },
    });
    const analysis = await until(
      async () => {
        const found = Object((await this.call('GET', `/projects/${project.id}`)).analysis);
        return ['succeeded', 'failed'].includes(found.status) ? found : undefined;
      },
      patienceMs,
      'the analysis',
    );
    assert.equal(analysis.status, 'succeeded', JSON.stringify(analysis.fault));
    const environment = { name: 'production', serverId };
    const made = await this.call('POST', `/projects/${project.id}/finalize`, {
      ...{ settings: sampleSettings, environment, deploy: true },
    });
    const id = String(Object(made.environment).id);
    const first = await this.ended(String(Object(made.deployment).id), id);
    assert.equal(first.status, 'succeeded', JSON.stringify(first.fault));
    return id;
  }

  async #urlOf(id: string): Promise<string> {
    return String((await this.call('GET', `/environments/${id}`)).url);
  }

  /** On a branch that no environment follows: it is deployed when it is asked for. */
  async push(version: Version): Promise<string> {
    const files = filesOf(version);
    const { sha } = await this.#git.commit('ada', 'one', { branch: 'next', message: version.name, files });
    this.#versions.set(sha, version.name);
    return sha;
  }

  async deploy(commit: string): Promise<string> {
    return String(
      (await this.call('POST', `/environments/${this.environmentId}/deployments`, { commit })).id,
    );
  }

  async rollBackTo(id: string): Promise<string> {
    const path = `/environments/${this.environmentId}/deployments/${id}/rollback`;
    return String((await this.call('POST', path, {})).id);
  }

  /** False where it came too late. */
  async cancel(id: string): Promise<boolean> {
    try {
      await this.call('POST', `/environments/${this.environmentId}/deployments/${id}/cancel`);
      return true;
    } catch (error) {
      if (error instanceof Error && error.message.includes('already_finished')) return false;
      throw error;
    }
  }

  /** What the sample calls itself where this deployment is live. */
  async versionOf(id: string): Promise<string> {
    const { commit } = await this.deployment(id);
    return this.#versions.get(String(Object(commit).sha)) ?? '';
  }

  environment(id = this.environmentId): Promise<Body> {
    return this.call('GET', `/environments/${id}`);
  }

  deployment(id: string, environmentId = this.environmentId): Promise<Body> {
    return this.call('GET', `/environments/${environmentId}/deployments/${id}`);
  }

  /** The newest first. */
  async deployments(): Promise<Body[]> {
    const { items } = await this.call('GET', `/environments/${this.environmentId}/deployments?limit=100`);
    return Array.isArray(items) ? items : [];
  }

  ended(id: string, environmentId = this.environmentId, withinMs = patienceMs): Promise<Body> {
    return until(
      async () => {
        const found = await this.deployment(id, environmentId);
        if (found.finishedAt !== null) return found;
        await sleep(100);
        return undefined;
      },
      withinMs,
      `deployment ${id} to end`,
    );
  }

  /** Passes when nothing is at work any more: what runs may have to be put right after the deployment has ended. */
  async quiet(withinMs: number): Promise<void> {
    await until(
      async () => {
        const { items } = await this.call('GET', '/operations');
        const isQuiet = Array.isArray(items) && items.every(({ finishedAt }) => finishedAt !== null);
        if (!isQuiet) await sleep(250);
        return isQuiet || undefined;
      },
      withinMs,
      'all work to end',
    );
  }

  /** As root on the server, by its console. */
  async sh(script: string): Promise<string> {
    const { code, stdout, stderr } = await this.lab.console(this.server.name, 'sh', '-euc', script);
    assert.equal(code, 0, `${script}: ${stderr}`);
    return stdout.trim();
  }

  async revive(): Promise<void> {
    for (const host of this.hosts) if (!host.isAlive) await host.start();
  }

  /** By whichever process answers. One that is killed or stands still in between is asked no more, the other one is. */
  async call(method: string, path: string, body?: unknown): Promise<Body> {
    const deadline = Date.now() + patienceMs;
    for (let turn = 0; ; turn += 1) {
      const host = this.hosts[turn % 2];
      const answer = host?.isAlive && !host.isStalled ? await this.#ask(host, method, path, body) : undefined;
      if (answer?.status === 401 && !path.startsWith('/auth/')) await this.#signIn();
      else if (answer && answer.status < 500) {
        assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
        return answer.body;
      }
      if (!this.#isOpen || Date.now() > deadline)
        throw new Error(`${method} ${path}: nobody answers; ${answer?.text}`);
      await sleep(100);
    }
  }

  async #ask(host: Host, method: string, path: string, body: unknown): Promise<Answer | undefined> {
    const options = {
      ...(this.#token !== '' && { token: this.#token }),
      ...(body !== undefined && { body }),
    };
    const late = sleep(10_000, undefined, { ref: false });
    try {
      return await Promise.race([callApi(host.url, method, path, options), late]);
    } catch (error) {
      // Killed while it was asked.
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  }

  async #signIn(): Promise<void> {
    this.#token = '';
    this.#token = String((await this.call('POST', '/auth/login', person)).accessToken);
  }

  /** What the processes said last, for a round that failed. */
  get said(): string {
    return this.hosts.map(({ said }, index) => `— process ${index + 1}:\n${said.slice(-6_000)}`).join('\n');
  }

  endNow(): void {
    for (const host of this.hosts) host.signal('SIGKILL');
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await Promise.all(this.hosts.map((host) => host.end('SIGKILL')));
    for (const host of this.hosts) host.remove();
    this.orders.remove();
    await this.#pool.close();
    await this.#git.close();
    rmSync(this.#gitDir, { recursive: true, force: true });
    await this.lab.removeServer(this.server.name);
  }
}
