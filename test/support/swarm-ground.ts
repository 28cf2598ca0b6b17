/** Three servers as one swarm, with nothing of the service but its engine. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setLiveRestore } from '../../src/areas/servers/docker-settings.ts';
import type { DockerHost } from '../../src/engine/docker-host.ts';
import { endpointsOf, type Front, type RunningInstance, type Target } from '../../src/engine/engine.ts';
import type { Placement } from '../../src/engine/placement.ts';
import type { ReleaseSpec, RunPlan } from '../../src/engine/release-spec.ts';
import { type Cluster, type ClusterServer, clusterOf } from '../../src/engine/swarm/cluster.ts';
import { ensureJoined, ensureSwarm, hasLiveRestore } from '../../src/engine/swarm/member.ts';
import { ensureMemberRules } from '../../src/engine/swarm/member-rules.ts';
import { swarm } from '../../src/engine/swarm/swarm.ts';
import { Fault } from '../../src/fault.ts';
import {
  type ClusterId,
  type DeploymentId,
  type EnvironmentId,
  newId,
  type ReleaseId,
  type ServerId,
  type WorkspaceId,
} from '../../src/ids.ts';
import { Secret } from '../../src/secret.ts';
import { labCapacity, type TestLab, type TestServer } from './lab.ts';
import { echoApp } from './proxy.ts';
import { connect } from './remote.ts';

export const run: RunPlan = {
  port: 8080,
  health: { path: '/', port: null, timeoutSeconds: 10, startSeconds: 240 },
  startCommand: 'exec node -e "$APP" "$RELEASE"',
  releaseCommand: null,
  processes: [],
  replicas: 3,
  memoryMb: 256,
  cpus: 1,
  volumes: [],
  drainSeconds: 60,
  stopSeconds: 5,
  holdSeconds: 60,
  isRoot: true,
  plainKeys: [],
  askedOfServices: [],
};

export interface Live {
  readonly name: string;
  readonly web: readonly RunningInstance[];
}

export class SwarmGround {
  readonly servers: readonly TestServer[];
  readonly cluster: Cluster;
  readonly target: Target;
  readonly #image: string;

  private constructor(servers: readonly TestServer[], cluster: Cluster, image: string) {
    this.servers = servers;
    this.cluster = cluster;
    this.target = swarm(cluster);
    this.#image = image;
  }

  static async open(t: TestContext, lab: TestLab): Promise<SwarmGround> {
    const { signal } = new AbortController();
    const placement: Placement = {
      workspaceId: newId<WorkspaceId>(),
      environmentId: newId<EnvironmentId>(),
      serverId: newId<ServerId>(),
      clusterId: newId<ClusterId>(),
      port: 21_000,
      network: 0,
    };
    const servers: TestServer[] = [];
    const members: ClusterServer[] = [];
    const fence = { scope: 'swarm-test', epoch: 1 };
    for (const name of ['web-1', 'web-2', 'web-3']) {
      const server = await lab.fresh(t, 'provisioned');
      const remote = connect(t, server);
      const serverId = members.length === 0 ? placement.serverId : newId<ServerId>();
      await setLiveRestore(remote, false, () => hasLiveRestore({ remote, signal }));
      const host: DockerHost = {
        placement: { ...placement, serverId },
        remote,
        capacity: labCapacity,
        fence,
        signal,
      };
      servers.push(server);
      members.push({ serverId, name, nodeId: '', address: server.about.address, host });
    }
    const addresses = members.map(({ address }) => address);
    for (const { host } of members) await ensureMemberRules(host.remote, addresses, signal);
    const [first] = members;
    assert.ok(first);
    const joined: ClusterServer[] = [];
    for (const member of members) {
      const { host, address } = member;
      const nodeId =
        member === first
          ? await ensureSwarm(host, address, placement.clusterId ?? newId<ClusterId>())
          : await ensureJoined(host, address, first.host, [first.address]);
      joined.push({ ...member, nodeId });
    }
    const image = await servers[0]?.ssh(
      `printf 'FROM node:24-slim\\nENV MADE_AT=home\\n' | docker build --quiet --tag shop -`,
    );
    const cluster = clusterOf({
      placement,
      signal,
      home: first.host,
      servers: joined,
      capacity: labCapacity,
      isEncrypted: false,
      isAway: (error) => error instanceof Fault && /^(remote_|port_)/.test(error.code),
    });
    return new SwarmGround(servers, cluster, image?.trim() ?? '');
  }

  release(name: string, changes: Partial<RunPlan> = {}): ReleaseSpec {
    const variables = new Map([
      ['APP', new Secret(echoApp)],
      ['RELEASE', new Secret(name)],
    ]);
    return { id: newId<ReleaseId>(), imageDigest: this.#image, run: { ...run, ...changes }, variables };
  }

  front(live: Live | undefined): Front {
    return { routes: [], endpoints: endpointsOf(live?.web ?? [], run.port), holdSeconds: run.holdSeconds };
  }

  /** As the steps of a deployment do it, up to the proof. */
  async start(release: ReleaseSpec, name: string): Promise<Live> {
    const deploymentId = newId<DeploymentId>();
    const web = await this.target.startWeb({ release, deploymentId, takenAddresses: new Set() });
    await this.target.waitHealthy({
      instances: web,
      run: release.run,
      secrets: [],
      onProbe: () => undefined,
    });
    return { name, web };
  }

  async deploy(name: string, before: Live | undefined): Promise<Live> {
    const release = this.release(name);
    const live = await this.start(release, name);
    await this.target.prove(this.front(before), this.front(live).endpoints, release);
    const names = before?.web.map((each) => each.name) ?? [];
    const left = await this.target.switchTo(this.front(live), { names, drainSeconds: run.drainSeconds });
    assert.deepEqual([...left], [], 'the old one has answered its last request');
    await this.target.stopInstances(names, run.stopSeconds, names);
    await this.target.removeInstances(names, run.stopSeconds);
    return live;
  }

  get urls(): string[] {
    return this.servers.map(({ about }) => `http://${about.address}:${this.cluster.placement.port}/`);
  }
}
