import assert from 'node:assert/strict';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { beginLooks } from '../../src/areas/reconcile/reconcile-environments.ts';
import { sql } from '../../src/store/sql.ts';
import {
  addServer,
  type Body,
  type DeployScene,
  startDeployScene,
  succeeded,
} from '../support/deployments.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

/** People who come through every proxy at once, on connections that they keep. */
class Crowd {
  readonly failures: { readonly visitor: number; readonly afterMs: number; readonly what: string }[] = [];
  readonly #begun = performance.now();
  readonly seen = new Set<string>();
  answered = 0;
  #goesOn = true;
  readonly #all: Promise<void>[];

  constructor(t: TestContext, urls: readonly string[], each = 4) {
    t.after(() => this.end());
    this.#all = urls.flatMap((url, at) =>
      Array.from({ length: each }, (_, index) => this.#go(url, at * each + index)),
    );
  }

  async #go(url: string, visitor: number): Promise<void> {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    while (this.#goesOn) {
      try {
        this.seen.add(await visit(url, agent));
        this.answered += 1;
      } catch (error) {
        const afterMs = Math.round(performance.now() - this.#begun);
        this.failures.push({ visitor, afterMs, what: `${url}: ${error}` });
      }
    }
    agent.destroy();
  }

  async end(): Promise<void> {
    this.#goesOn = false;
    await Promise.all(this.#all);
  }
}

/** The release that answers. */
async function visit(url: string, agent?: http.Agent): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  http
    .get(url, { agent, timeout: 60_000 }, resolve)
    .once('error', reject)
    .once('timeout', () => reject(new Error('no answer within a minute')));
  const answer = await promise;
  const body = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${body.slice(0, 200)}`);
  return String(JSON.parse(body).app);
}

/** An app of nothing but Node: the image is small, and so is the wait. */
function release(name: string, server = answering(name)): Record<string, string> {
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

async function push(scene: DeployScene, files: Record<string, string>): Promise<void> {
  await scene.git.host.commit('ada', 'shop', { branch: 'main', message: 'Change it', files });
}

class ClusterScene {
  readonly scene: DeployScene;
  readonly servers: readonly TestServer[];
  readonly ids: readonly string[];
  readonly clusterId: string;

  private constructor(
    scene: DeployScene,
    servers: readonly TestServer[],
    ids: readonly string[],
    clusterId: string,
  ) {
    this.scene = scene;
    this.servers = servers;
    this.ids = ids;
    this.clusterId = clusterId;
  }

  static async open(t: TestContext): Promise<ClusterScene> {
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
    return new ClusterScene(scene, servers, ids, clusterId);
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
    const { code, stdout, stderr } = await lab.client.console(this.name(place), 'sh', '-euc', script);
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

test('an environment on three servers is deployed under load through every proxy, and stands the loss of one', async (t) => {
  const cluster = await ClusterScene.open(t);
  const { scene, clusterId, ids } = cluster;
  const made = await scene.deployed({
    files: release('first'),
    name: 'shop',
    settings: { drainSeconds: 20, stopSeconds: 2 },
    placement: { clusterId, replicas: 6 },
  });
  const { environmentId, deployment } = made;
  succeeded(deployment);
  const shown = await scene.call('GET', `/environments/${environmentId}`);
  assert.deepEqual(shown.placement, { clusterId, replicas: 6, spread: 'even' });
  const urls = await cluster.urls(environmentId);
  for (const url of urls) assert.equal(await visit(url), 'first');
  const spread = Map.groupBy(await cluster.containers(environmentId), ({ serverId }) => serverId);
  assert.deepEqual(
    ids.map((id) => spread.get(id)?.length),
    [2, 2, 2],
  );

  await t.test('a replica is closed off, and its port is for members alone', async () => {
    const options = await cluster.sh(
      0,
      `docker inspect --format '{{.HostConfig.CapDrop}} {{.HostConfig.SecurityOpt}} {{.HostConfig.PidsLimit}} {{.HostConfig.Init}}' \\
        $(docker ps --quiet --filter label=slipway=app | head -n 1)`,
    );
    assert.match(options, /^\[(CAP_)?ALL\] \[no-new-privileges\S*\] 512 true$/);
    const port = await cluster.sh(
      0,
      `docker ps --filter label=slipway=app --format '{{.Ports}}' | grep -oE '0.0.0.0:[0-9]+' | head -n 1 | cut -d : -f 2`,
    );
    const address = cluster.servers[0]?.about.address;
    const asked = `curl --silent --max-time 2 --output /dev/null --write-out '%{http_code}' http://${address}:${port}/ || true`;
    assert.equal(await cluster.sh(1, asked), '200');
    await assert.rejects(fetch(`http://${address}:${port}/`, { signal: AbortSignal.timeout(2_000) }));
  });

  await t.test(
    'a second release under load: no request is lost, and nothing of the first is left',
    async (t) => {
      const crowd = new Crowd(t, urls);
      await push(scene, release('second'));
      succeeded(await scene.deploy(environmentId));
      await until(async () => crowd.seen.has('second'), 'the second release to answer');
      await crowd.end();
      assert.deepEqual(crowd.failures, []);
      t.diagnostic(`${crowd.answered} requests answered through three proxies, none lost`);
      for (const url of urls) assert.equal(await visit(url), 'second');
      assert.equal(await cluster.sh(0, 'docker service ls --quiet | wc -l'), '6');
      // Swarm removes the containers of a service that is gone when it comes to it.
      await until(
        async () => (await cluster.containers(environmentId)).length === 6,
        'the containers of the first to be gone',
      );
    },
  );

  await t.test('a release that does not answer leaves the one before in place, on every proxy', async () => {
    await push(scene, release('broken', 'process.exit(3);\n'));
    const failed = await scene.deploy(environmentId);
    assert.equal(failed.status, 'failed', JSON.stringify(failed));
    for (const url of urls) assert.equal(await visit(url), 'second');
    assert.equal(await cluster.sh(0, 'docker service ls --quiet | wc -l'), '6');
  });

  await t.test('the power of one server is cut: the others serve on, and it is even again', async (t) => {
    const [first = '', second = ''] = urls;
    const crowd = new Crowd(t, [first, second]);
    await until(async () => crowd.answered > 50, 'the crowd to be there');
    await lab.client.cut(cluster.name(2));
    await until(async () => {
      await cluster.look();
      const there = await cluster.containers(environmentId);
      return there.filter(({ state, serverId }) => state === 'running' && serverId !== ids[2]).length === 6;
    }, 'six replicas on the two that are left');
    const lost = crowd.failures.length;
    await until(async () => {
      await cluster.look();
      return (await scene.call('GET', `/environments/${environmentId}`)).status === 'running';
    }, 'the proxies to follow');
    await crowd.end();
    t.diagnostic(`${crowd.answered} requests answered, ${lost} lost with the server`);
    assert.equal(crowd.failures.length, lost, 'none once the checks had taken its replicas out');
    // The checks take out each replica by itself: who lost a request to the first may have asked the second.
    const ofVisitors = Map.groupBy(crowd.failures, ({ visitor }) => visitor).values();
    for (const own of ofVisitors) assert.ok(own.length <= 2, JSON.stringify(own));
    await lab.client.heal(cluster.name(2));
    const third = urls[2] ?? '';
    await until(async () => {
      await cluster.look();
      return visit(third).catch(() => undefined);
    }, 'the third to serve again');
    assert.equal(await visit(third), 'second');
  });

  await t.test('it is removed from every server, also from one that was away', async () => {
    const left = (place: number) =>
      cluster.sh(
        place,
        `docker ps --all --quiet --filter label=slipway=app | wc -l; ls /var/lib/slipway/proxy/config | grep -c ^front- || true`,
      );
    await lab.client.cut(cluster.name(2));
    await until(
      async () => (await cluster.sh(0, `docker node ls --format '{{.Status}}'`)).includes('Down'),
      'Swarm to see that it is away',
    );
    const { id } = await scene.call('DELETE', `/environments/${environmentId}`);
    await until(
      async () => (await left(0)) === '0\n0' && (await left(1)) === '0\n0',
      'the others to be rid of it',
    );
    assert.notEqual(await left(2), '0\n0');
    await lab.client.heal(cluster.name(2));
    const removal = await until(async () => {
      const operation = await scene.call('GET', `/operations/${id}`);
      return operation.finishedAt !== null && operation;
    }, 'the environment to be gone');
    assert.equal(removal.status, 'succeeded', JSON.stringify(removal));
    for (const place of [0, 1, 2]) assert.equal(await left(place), '0\n0', `on ${cluster.name(place)}`);
    assert.equal(await cluster.sh(0, 'docker service ls --quiet | wc -l'), '0');
  });
});
