/** The whole service with a lab server, or a cluster of several, and a Git host, for measuring deployments; calls to servers are counted. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../lab/command.ts';
import type { LabDescription, ServerDescription } from '../lab/description.ts';
import { launchBound } from '../lab/launch.ts';
import { Progress } from '../lab/progress.ts';
import { type GitHost, startGitHost } from '../lab/services/git/git-host.ts';
import { type App, startApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import { countTrips } from '../test/support/count-work.ts';
import { temporaryFolder } from '../test/support/postgres.ts';
import { openStream } from '../test/support/sse.ts';

export type Body = Record<string, unknown>;

/** The service that is measured. */
interface Measured {
  readonly url: string;
  stop(): Promise<void>;
}

/** A deployment that somebody waits for. */
interface Begun {
  readonly environmentId: string;
  readonly deploymentId: string;
}

export const person = { email: 'bench@example.com', password: 'a long password for the bench' };

const settings = {
  SLIPWAY_ALLOW_PRIVATE_EGRESS: 'on',
  SLIPWAY_LIMIT_TRIGGERS: '100000',
  SLIPWAY_LIMIT_REQUESTS: '1000000',
};

export class DeployBench<Service extends Measured = App> {
  readonly lab: LabDescription;
  readonly server: ServerDescription;
  readonly host: GitHost;
  readonly app: Service;
  readonly #end: () => Promise<void>;
  trips = 0;
  #token = '';
  /** Of each environment that is made. */
  #place: Body = {};
  #providerId = '';

  /** In this process, where calls to the server can be counted. */
  static async start(servers = 1): Promise<DeployBench> {
    const bench = await DeployBench.with((dataDir) => {
      const config = readConfig({ ...settings, SLIPWAY_DATA_DIR: dataDir, SLIPWAY_PORT: '0' });
      return startApp(config, createLog('silent'));
    }, servers);
    countTrips(bench.app.contexts.servers.pool, () => {
      bench.trips += 1;
    });
    return bench;
  }

  static async with<Service extends Measured>(
    begin: (dataDir: string, env: Record<string, string>) => Promise<Service>,
    servers = 1,
  ): Promise<DeployBench<Service>> {
    const variants = Array.from({ length: servers }, () => 'docker' as const);
    const lab = await launchBound(`bench-deploy-${process.pid}`, variants, new Progress());
    const folder = temporaryFolder('bench-deploy');
    const host = await startGitHost({ address: '127.0.0.1', port: 0, dir: join(folder, 'host') });
    const app = await begin(join(folder, 'data'), settings);
    const bench = new DeployBench(lab.about, host, app, async () => {
      await app.stop();
      await host.close();
      const awake = setInterval(() => undefined, 1_000);
      await lab.end();
      clearInterval(awake);
      rmSync(folder, { recursive: true, force: true });
    });
    try {
      await bench.#prepare(join(folder, 'data', 'outbox'));
      return bench;
    } catch (error) {
      await bench.end();
      throw error;
    }
  }

  private constructor(lab: LabDescription, host: GitHost, app: Service, end: () => Promise<void>) {
    const [server] = lab.servers;
    if (!server) throw new Error('the lab has no server');
    this.lab = lab;
    this.server = server;
    this.host = host;
    this.app = app;
    this.#end = end;
  }

  end(): Promise<void> {
    return this.#end();
  }

  async call(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await fetch(`${this.app.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? {} : JSON.parse(text);
  }

  /** A file in the field `file` of a form, sent by curl. */
  async upload(path: string, file: string): Promise<Body> {
    const url = `${this.app.url}/api/v1${path}`;
    const headers = `authorization: Bearer ${this.#token}`;
    return JSON.parse(
      await run('curl', ['-sS', '--fail-with-body', '-H', headers, '-F', `file=@${file}`, url]),
    );
  }

  /** The id of an environment that is deployed and runs. */
  async environment(name: string, from: string, settings: Body): Promise<string> {
    const { environmentId, deploymentId } = await (await this.prepared(name, from, settings))();
    await this.ended(environmentId, deploymentId);
    return environmentId;
  }

  /** All but its first deployment; what is returned begins that. */
  async prepared(name: string, from: string, settings: Body): Promise<() => Promise<Begun>> {
    await this.host.createRepository({ owner: 'ada', name, private: true, from });
    const repository = { providerId: this.#providerId, fullName: `ada/${name}` };
    const project = await this.call('POST', '/projects', { name, repository });
    await this.#until(
      async () => Object((await this.call('GET', `/projects/${project.id}`)).analysis).status === 'succeeded',
    );
    const environment = { name: 'production', ...this.#place };
    const body = { settings, environment, deploy: true };
    return async () => {
      const made = await this.call('POST', `/projects/${project.id}/finalize`, body);
      const [environmentId, deploymentId] = [Object(made.environment).id, Object(made.deployment).id];
      return { environmentId: String(environmentId), deploymentId: String(deploymentId) };
    };
  }

  commit(name: string, files: Readonly<Record<string, string>>): Promise<{ sha: string }> {
    return this.host.commit('ada', name, { branch: 'main', message: 'Another version', files });
  }

  /** From the wish to its end, as someone sees it who waits for it. */
  async deploy(environmentId: string): Promise<{ ms: number; trips: number; id: string }> {
    return this.#timed(environmentId, () =>
      this.call('POST', `/environments/${environmentId}/deployments`, {}),
    );
  }

  async rollback(environmentId: string, to: string): Promise<{ ms: number; trips: number; id: string }> {
    const path = `/environments/${environmentId}/deployments/${to}/rollback`;
    return this.#timed(environmentId, () => this.call('POST', path, {}));
  }

  async #timed(environmentId: string, start: () => Promise<Body>) {
    const [before, begun] = [this.trips, performance.now()];
    const id = String((await start()).id);
    await this.follow(`/environments/${environmentId}/deployments/${id}/status`);
    const ms = performance.now() - begun;
    const { operationId } = await this.ended(environmentId, id);
    // What is cleared away after the success counts among the trips, and is not in the way of the next one.
    await this.#until(async () => (await this.call('GET', `/operations/${operationId}`)).finishedAt !== null);
    return { ms, trips: this.trips - before, id };
  }

  async ended(environmentId: string, id: string): Promise<Body> {
    const path = `/environments/${environmentId}/deployments/${id}`;
    await this.follow(`${path}/status`);
    const found = await this.call('GET', path);
    if (found.status !== 'succeeded') throw new Error(JSON.stringify(found.fault));
    return found;
  }

  /**
   * To the end of a stream, as the dashboard and the prompt wait for it. One who asks again and again takes a tenth of the
   * machine from what is measured.
   */
  async follow(path: string): Promise<void> {
    const stream = await openStream(`${this.app.url}/api/v1${path}`, { token: this.#token });
    if (stream.status !== 200) throw new Error(`${path}: ${stream.status} ${stream.body}`);
    for await (const { event } of stream.events()) if (event === 'end') break;
    stream.close();
  }

  async #until(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await isSo())) await sleep(15);
  }

  async #prepare(outbox: string): Promise<void> {
    const { email } = person;
    await this.call('POST', '/auth/register', person);
    let code: string | undefined;
    await this.#until(async () => {
      const [mail] = readdirSync(outbox).filter((name) => name.endsWith('.eml'));
      code =
        mail &&
        /\b(\d{6})\b/.exec(
          readFileSync(join(outbox, mail), 'utf8')
            .split(/\r?\n\r?\n/)
            .slice(1)
            .join('\n'),
        )?.[1];
      return code !== undefined;
    });
    this.#token = String((await this.call('POST', '/auth/verify-otp', { email, code })).accessToken);
    this.host.createAccount({ login: 'ada', kind: 'user' });
    const { token } = this.host.createToken({
      login: 'ada',
      scopes: ['repo', 'admin:repo_hook', 'read:org'],
    });
    const connected = { provider: 'github', token, baseUrl: this.host.url };
    this.#providerId = String((await this.call('POST', '/git-provider/save-token', connected)).id);
    const serverIds: string[] = [];
    for (const server of this.lab.servers) serverIds.push(await this.#add(server));
    this.#place = serverIds.length > 1 ? await this.#cluster(serverIds) : { serverId: serverIds[0] };
  }

  async #add({ address, port, user: username, keyFile, name }: ServerDescription): Promise<string> {
    const auth = { type: 'key', privateKey: readFileSync(keyFile ?? '', 'utf8') };
    const { id } = await this.call('POST', '/servers', { name, host: address, port, username, auth });
    await this.#until(async () => (await this.call('GET', `/servers/${id}`)).status === 'ready');
    return String(id);
  }

  async #cluster(serverIds: readonly string[]): Promise<Body> {
    const { id: clusterId } = await this.call('POST', '/clusters', { name: 'all', serverIds });
    await this.#until(async () => (await this.call('GET', `/clusters/${clusterId}`)).status === 'ready');
    return { placement: { clusterId, replicas: 6 } };
  }
}
