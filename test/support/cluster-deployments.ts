/** An environment on a cluster of three lab servers. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { beginLooks } from '../../src/areas/reconcile/reconcile-environments.ts';
import { sql } from '../../src/store/sql.ts';
import { addServer, type Body, type DeployScene, startDeployScene } from './deployments.ts';
import type { TestLab, TestServer } from './lab.ts';
import { until } from './until.ts';

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
