/**
 * What the trials stand on: a lab server, or several as a cluster, with two environments of the sample, a Git host, and two processes
 * of the service on one database. Everything is asked over the API of whichever process answers.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LabClient } from '../../lab/client.ts';
import type { LabDescription, ServerDescription } from '../../lab/description.ts';
import { type GitHost, startGitHost } from '../../lab/services/git/git-host.ts';
import { createLog } from '../../src/log.ts';
import { createRemotePool } from '../../src/remote/pool.ts';
import type { Remote, RemotePool } from '../../src/remote/remote.ts';
import { callApi } from '../support/app.ts';
import { enoughScopes } from '../support/git.ts';
import { TestServer } from '../support/lab.ts';
import { Mailbox } from '../support/mailbox.ts';
import { temporaryFolder } from '../support/postgres.ts';
import { labHosts, targetOf } from '../support/remote.ts';
import { until } from '../support/until.ts';
import { Host, hostSettings, usualLeaseMs } from './hosts.ts';
import { Orders } from './orders.ts';
import { filesOf, sampleSettings, type Version } from './sample.ts';

export type Body = Record<string, unknown>;

export interface GroundOptions {
  readonly leaseMs?: number;
  /** More than one are a cluster. */
  readonly servers?: number;
  /** Of the processes of the service, beside what every trial needs. */
  readonly settings?: Record<string, string>;
}

/** What is there when the first deployment of a new application has ended. */
export interface Created {
  readonly projectId: string;
  readonly environmentId: string;
}

const person = { email: 'ada@example.com', password: 'a long enough password' };
const patienceMs = 300_000;

export class Ground {
  readonly lab: LabClient;
  readonly servers: readonly ServerDescription[];
  /** The only one, or the first. */
  readonly server: ServerDescription;
  readonly orders = new Orders();
  readonly hosts: readonly [Host, Host];
  /** The one that is deployed to, and the one that nothing may happen to. */
  environmentId = '';
  otherId = '';
  url = '';
  otherUrl = '';
  serverId = '';
  /** Of each environment that is made. */
  #place: Body = {};
  providerId = '';
  readonly remote: Remote;
  readonly leaseMs: number;
  readonly git: GitHost;
  readonly #pool: RemotePool;
  readonly #gitDir: string;
  readonly #versions = new Map<string, string>();
  #token = '';
  #isOpen = true;

  private constructor(
    lab: LabClient,
    about: LabDescription,
    servers: readonly [ServerDescription, ...ServerDescription[]],
    git: GitHost,
    gitDir: string,
    databaseUrl: string,
    { leaseMs, settings: more }: Required<Omit<GroundOptions, 'servers'>>,
  ) {
    this.lab = lab;
    this.servers = servers;
    const [server] = servers;
    this.server = server;
    this.git = git;
    this.#gitDir = gitDir;
    this.leaseMs = leaseMs;
    const settings = { ...hostSettings(databaseUrl, this.orders.folder, leaseMs), ...more };
    this.hosts = [new Host(settings), new Host(settings)];
    this.#pool = createRemotePool(labHosts, createLog('silent'));
    this.remote = this.#pool.to(targetOf(new TestServer(about, server)));
  }

  static async open(
    lab: LabClient,
    about: LabDescription,
    databaseUrl: string,
    { leaseMs = usualLeaseMs, servers: count = 1, settings = {} }: GroundOptions = {},
  ): Promise<Ground> {
    const gitDir = temporaryFolder('git-host');
    const git = await startGitHost({ address: '127.0.0.1', port: 0, dir: gitDir });
    const server = await lab.addServer('provisioned');
    const others: ServerDescription[] = [];
    while (others.length + 1 < count) others.push(await lab.addServer('provisioned'));
    const servers = [server, ...others] as const;
    const ground = new Ground(lab, about, [...servers], git, gitDir, databaseUrl, { leaseMs, settings });
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
    this.git.createAccount({ login: 'ada', kind: 'user' });
    const { token } = this.git.createToken({ login: 'ada', scopes: enoughScopes });
    const saved = await this.call('POST', '/git-provider/save-token', {
      provider: 'github',
      token,
      baseUrl: this.git.url,
    });
    this.providerId = String(saved.id);
    this.serverId = await this.addServer(this.server);
    this.#place = this.servers.length > 1 ? await this.#cluster() : { serverId: this.serverId };
    this.environmentId = (await this.create('one')).environmentId;
    this.otherId = (await this.create('other')).environmentId;
    [this.url, this.otherUrl] = [await this.#urlOf(this.environmentId), await this.#urlOf(this.otherId)];
    // So that there is always one to go back to.
    const { status, fault } = await this.ended(await this.deploy(await this.push({ name: 'second' })));
    assert.equal(status, 'succeeded', JSON.stringify(fault));
    await second.start();
  }

  async #cluster(): Promise<Body> {
    const serverIds = [this.serverId];
    for (const server of this.servers.slice(1)) serverIds.push(await this.addServer(server));
    return { placement: { clusterId: await this.makeCluster(serverIds), replicas: 6 } };
  }

  async makeCluster(serverIds: readonly string[]): Promise<string> {
    const { id } = await this.call('POST', '/clusters', { name: 'all', serverIds });
    const isReady = async () => (await this.call('GET', `/clusters/${id}`)).status === 'ready' || undefined;
    await until(isReady, 'the cluster to be ready', patienceMs);
    return String(id);
  }

  async addServer({
    name,
    address: host,
    port,
    user: username,
    keyFile,
  }: ServerDescription): Promise<string> {
    const auth = { type: 'key', privateKey: readFileSync(keyFile ?? '', 'utf8') };
    const { id } = await this.call('POST', '/servers', { name, host, port, username, auth });
    const isReady = async () => (await this.call('GET', `/servers/${id}`)).status === 'ready' || undefined;
    await until(async () => (await isReady()) ?? sleep(200, undefined), 'the server to be ready', patienceMs);
    return String(id);
  }

  /** A repository with the sample, which is not a project yet. */
  async repository(name: string): Promise<string> {
    const from = temporaryFolder('git-tree');
    mkdirSync(from, { recursive: true });
    for (const [path, text] of Object.entries(filesOf({ name: 'first' })))
      writeFileSync(join(from, path), text);
    const { sha } = await this.git.createRepository({ owner: 'ada', name, private: true, from });
    this.#versions.set(sha ?? '', 'first');
    rmSync(from, { recursive: true });
    return `ada/${name}`;
  }

  /** With its first environment, deployed. */
  async create(name: string, services: readonly Body[] = [], place = this.#place): Promise<Created> {
    const repository = { providerId: this.providerId, fullName: await this.repository(name) };
    const project = await this.call('POST', '/projects', { name, repository });
    const analysis = await until(
      async () => {
        const found = Object((await this.call('GET', `/projects/${project.id}`)).analysis);
        return ['succeeded', 'failed'].includes(found.status) ? found : undefined;
      },
      'the analysis',
      patienceMs,
    );
    assert.equal(analysis.status, 'succeeded', JSON.stringify(analysis.fault));
    const environment = { name: 'production', ...place, services };
    const made = await this.call('POST', `/projects/${project.id}/finalize`, {
      settings: sampleSettings,
      environment,
      deploy: true,
    });
    const id = String(Object(made.environment).id);
    const first = await this.ended(String(Object(made.deployment).id), id);
    assert.equal(first.status, 'succeeded', JSON.stringify(first.fault));
    return { projectId: String(project.id), environmentId: id };
  }

  async #urlOf(id: string): Promise<string> {
    return String((await this.call('GET', `/environments/${id}`)).url);
  }

  /** On a branch that no environment follows: it is deployed when it is asked for. */
  async push(version: Version, repository = 'one'): Promise<string> {
    const files = filesOf(version);
    const { sha } = await this.git.commit('ada', repository, {
      branch: 'next',
      message: version.name,
      files,
    });
    this.#versions.set(sha, version.name);
    return sha;
  }

  async deploy(commit: string, environmentId = this.environmentId): Promise<string> {
    return String((await this.call('POST', `/environments/${environmentId}/deployments`, { commit })).id);
  }

  async rollBackTo(id: string, environmentId = this.environmentId): Promise<string> {
    const path = `/environments/${environmentId}/deployments/${id}/rollback`;
    return String((await this.call('POST', path, {})).id);
  }

  /** False where it came too late. */
  async cancel(id: string, environmentId = this.environmentId): Promise<boolean> {
    try {
      await this.call('POST', `/environments/${environmentId}/deployments/${id}/cancel`);
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
  async deployments(environmentId = this.environmentId): Promise<Body[]> {
    const { items } = await this.call('GET', `/environments/${environmentId}/deployments?limit=100`);
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
      `deployment ${id} to end`,
      withinMs,
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
      'all work to end',
      withinMs,
    );
  }

  /** As root on the server, by its console. */
  async sh(script: string, server = this.server): Promise<string> {
    const { code, stdout, stderr } = await this.lab.console(server.name, 'sh', '-euc', script);
    assert.equal(code, 0, `${script}: ${stderr}`);
    return stdout.trim();
  }

  async revive(): Promise<void> {
    await Promise.all(this.hosts.filter(({ isAlive }) => !isAlive).map((host) => host.start()));
  }

  /** By whichever process answers. One that is killed or stands still in between is asked no more, the other one is. */
  async call(method: string, path: string, body?: unknown, answerWithinMs = 10_000): Promise<Body> {
    const deadline = Date.now() + patienceMs;
    // What was done by one that was killed before it could answer is not done again by the other.
    const key = method === 'GET' ? undefined : randomUUID();
    for (let turn = 0; ; turn += 1) {
      const host = this.hosts[turn % 2];
      const answer =
        host?.isAlive && !host.isStalled
          ? await this.#ask(host, method, path, { body, key, answerWithinMs })
          : undefined;
      const isUnderWay = answer?.body.code === 'idempotency_in_progress';
      if (answer?.status === 401 && !path.startsWith('/auth/')) await this.#signIn();
      else if (answer && answer.status < 500 && !isUnderWay) {
        assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
        return answer.body;
      }
      if (!this.#isOpen || Date.now() > deadline)
        throw new Error(`${method} ${path}: nobody answers; ${answer?.text}`);
      await sleep(100);
    }
  }

  /** A file, as a form has it; asked again where the process that took it was killed. */
  async upload(path: string, name: string, text: string): Promise<Body> {
    const body = new FormData();
    body.set('file', new Blob([text]), name);
    return this.call('POST', path, body);
  }

  async #ask(
    host: Host,
    method: string,
    path: string,
    { body, key, answerWithinMs }: { body: unknown; key: string | undefined; answerWithinMs: number },
  ) {
    const options = {
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
      ...(this.#token !== '' && { token: this.#token }),
      ...(body !== undefined && { body }),
    };
    const late = sleep(answerWithinMs, undefined, { ref: false });
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
    const last = (said: string) =>
      said
        .split('\n')
        .filter((line) => !/"msg":"request"|trying again"|lost an idle database/.test(line))
        .join('\n')
        .slice(-8_000);
    return this.hosts.map(({ said }, index) => `— process ${index + 1}:\n${last(said)}`).join('\n');
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
    await this.git.close();
    rmSync(this.#gitDir, { recursive: true, force: true });
    for (const { name } of this.servers) await this.lab.removeServer(name);
  }
}
