/** An environment on a cluster of three lab servers, and people who visit it through every proxy. */
import assert from 'node:assert/strict';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { beginLooks } from '../../src/areas/reconcile/reconcile-environments.ts';
import { sql } from '../../src/store/sql.ts';
import { addServer, type Body, type DeployScene, startDeployScene } from './deployments.ts';
import type { TestLab, TestServer } from './lab.ts';
import { until } from './until.ts';

interface CrowdOptions {
  /** Of each proxy. */
  readonly each?: number;
  readonly goesElsewhere?: boolean;
}

/** People who come through every proxy at once, on connections that they keep. */
export class Crowd {
  readonly failures: { readonly visitor: number; readonly afterMs: number; readonly what: string }[] = [];
  readonly #begun = performance.now();
  readonly seen = new Set<string>();
  answered = 0;
  /** By a server that took no connection, before the next was asked. */
  turnedAway = 0;
  #goesOn = true;
  readonly #all: Promise<void>[];

  constructor(
    t: TestContext,
    urls: readonly string[],
    { each = 4, goesElsewhere = false }: CrowdOptions = {},
  ) {
    t.after(() => this.end());
    this.#all = urls.flatMap((url, at) => {
      const places = goesElsewhere ? [...urls.slice(at), ...urls.slice(0, at)] : [url];
      return Array.from({ length: each }, (_, index) => this.#go(places, at * each + index));
    });
  }

  async #go(places: readonly string[], visitor: number): Promise<void> {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    while (this.#goesOn) {
      try {
        this.seen.add(await this.#visitOne(places, agent));
        this.answered += 1;
      } catch (error) {
        const afterMs = Math.round(performance.now() - this.#begun);
        this.failures.push({ visitor, afterMs, what: `${places[0]}: ${error}` });
      }
    }
    agent.destroy();
  }

  /** As a browser does with a name of several addresses: where nobody takes the request, the next is asked. */
  async #visitOne([first = '', ...others]: readonly string[], agent: http.Agent): Promise<string> {
    try {
      return await visit(first, agent);
    } catch (error) {
      if (!(error instanceof NotTaken) || others.length === 0) throw error;
      this.turnedAway += 1;
      return this.#visitOne(others, agent);
    }
  }

  async end(): Promise<void> {
    this.#goesOn = false;
    await Promise.all(this.#all);
  }
}

/** No connection came about, or one that was kept had ended: nobody has seen the request. */
class NotTaken extends Error {}

const notTaken = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH']);
const connectMs = 2_000;

/** The release that answers. */
export async function visit(url: string, agent?: http.Agent): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const request = http.get(url, { agent, timeout: 60_000 }, resolve);
  request
    .once('error', (error) => {
      const { code } = Object(error);
      const isOld = request.reusedSocket && code === 'ECONNRESET';
      const isTaken = !isOld && !notTaken.has(code) && !(error instanceof NotTaken);
      reject(isTaken ? error : new NotTaken(String(error)));
    })
    .once('timeout', () => reject(new Error('no answer within a minute')))
    .once('socket', (socket) => {
      if (!socket.connecting) return;
      const late = setTimeout(() => request.destroy(new NotTaken('no connection')), connectMs);
      for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(late));
    });
  const answer = await promise;
  const body = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${body.slice(0, 200)}`);
  return body.startsWith('{') ? String(JSON.parse(body).app) : body;
}

/** An app of nothing but Node: the image is small, and so is the wait. */
export function release(name: string, server = answering(name)): Record<string, string> {
  return {
    'package.json': JSON.stringify({ name: 'shop', version: '1.0.0', private: true, type: 'module' }),
    'server.js': server,
    Dockerfile: `FROM node:24-slim
ENV PORT=8080
WORKDIR /app
COPY package.json server.js ./
USER 10001
EXPOSE 8080
CMD ["node", "server.js"]
`,
  };
}

function answering(name: string): string {
  return `import { createServer } from 'node:http';
const server = createServer((_request, response) => response.end(JSON.stringify({ app: '${name}' })));
server.keepAliveTimeout = 120_000;
server.listen(Number(process.env.PORT), '0.0.0.0');
process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  setInterval(() => server.closeIdleConnections(), 100).unref();
});
`;
}

export async function push(scene: DeployScene, files: Record<string, string>): Promise<void> {
  await scene.git.host.commit('ada', 'shop', { branch: 'main', message: 'Change it', files });
}

export class ClusterScene {
  readonly lab: TestLab;
  readonly scene: DeployScene;
  readonly servers: readonly TestServer[];
  readonly ids: readonly string[];
  readonly clusterId: string;

  private constructor(
    lab: TestLab,
    scene: DeployScene,
    servers: readonly TestServer[],
    ids: readonly string[],
    clusterId: string,
  ) {
    this.lab = lab;
    this.scene = scene;
    this.servers = servers;
    this.ids = ids;
    this.clusterId = clusterId;
  }

  static async open(t: TestContext, lab: TestLab): Promise<ClusterScene> {
    const scene = await startDeployScene(t, lab);
    const servers = [scene.server];
    const ids = [scene.serverId];
    for (const _ of [2, 3]) {
      const server = await lab.fresh(t, 'provisioned');
      servers.push(server);
      ids.push(await addServer(scene.git, server));
    }
    const { id } = await scene.call('POST', '/clusters', { name: 'shop', serverIds: ids });
    const clusterId = String(id);
    const made = await until(async () => {
      const cluster = await scene.call('GET', `/clusters/${clusterId}`);
      return cluster.status !== 'creating' && cluster;
    }, 'the cluster to be made');
    assert.equal(made.status, 'ready', JSON.stringify(made.problem));
    return new ClusterScene(lab, scene, servers, ids, clusterId);
  }

  /** Of an environment, through each of the proxies. */
  async urls(environmentId: string): Promise<string[]> {
    const { port } = new URL(await this.scene.url(environmentId));
    return this.servers.map(({ about }) => `http://${about.address}:${port}/`);
  }

  async containers(environmentId: string): Promise<Body[]> {
    const { containers } = await this.scene.call('GET', `/environments/${environmentId}/containers`);
    return Array.from(Object(containers), Object);
  }

  async sh(place: number, script: string): Promise<string> {
    const { code, stdout, stderr } = await this.lab.client.console(this.name(place), 'sh', '-euc', script);
    assert.equal(code, 0, `${script}: ${stderr}`);
    return stdout.trim();
  }

  name(place: number): string {
    return this.servers[place]?.about.name ?? '';
  }

  /** Now, and not within ten seconds. */
  async look(): Promise<void> {
    const { store, contexts } = this.scene.git.service.app;
    await store.db.run(sql`update environments set look_at = now() - interval '1 day'`);
    await Promise.all(await beginLooks(contexts.reconcile));
  }
}
