/** Servers of the lab as members of clusters, and processes of the service that change them and are killed at it. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';

import * as queries from '../../src/areas/clusters/queries.ts';
import { type ClusterId, newId, type ServerId } from '../../src/ids.ts';
import type { Json } from '../../src/operations/definition.ts';
import { sql } from '../../src/store/sql.ts';
import { masterKeys } from './database.ts';
import type { TestLab, TestServer } from './lab.ts';
import { OperationBench } from './operations.ts';
import { pinOf } from './remote.ts';
import { addServer, serversContext } from './servers-context.ts';

/** All that a cluster changes on a server: each line is as before it joined. */
export const traces = `docker info --format '{{.Swarm.LocalNodeState}} {{.LiveRestoreEnabled}}'
docker network ls --format '{{.Name}}' | grep -cE 'gwbridge|ingress' || true
ls /etc/slipway /etc/systemd/system | grep -c cluster || true
nft list tables | grep -c slipway_cluster || true`;
export const untouched = 'inactive true\n0\n0\n0';

export interface WorldServer {
  readonly id: ServerId;
  readonly server: TestServer;
}

export async function startClusterWorld(t: TestContext, lab: TestLab, count: number) {
  const bench = await OperationBench.open(t);
  const { db, workspaceId } = bench;
  const ctx = await serversContext(t, { url: bench.databaseUrl, db }, masterKeys(7));
  const all: WorldServer[] = [];
  for (let place = 1; place <= count; place += 1) {
    const server = await lab.fresh(t, 'provisioned');
    const way = { host: server.about.address, hostKey: pinOf(server) };
    const { id, publicKey } = await addServer(ctx, workspaceId, way);
    await db.run(sql`
      update servers set name = ${`web-${place}`}, status = 'ready', provisioned_at = now(),
        check_at = now() + interval '1 day'
      where id = ${id}`);
    await server.ssh(`echo '${publicKey}' >> /root/.ssh/authorized_keys`);
    all.push({ id, server });
  }
  const sh = async ({ server }: WorldServer, script: string) => {
    const { code, stdout, stderr } = await lab.client.console(server.about.name, 'sh', '-euc', script);
    assert.equal(code, 0, `${script}: ${stderr}`);
    return stdout.trim();
  };
  const keyOf = (id: ClusterId) => ({ workspaceId, id });
  const wishOf = (
    clusterId: ClusterId,
    servers: readonly WorldServer[],
    more: Record<string, Json> = {},
  ) => ({
    input: { clusterId, serverIds: servers.map(({ id }) => id), ...more },
    subject: { type: 'cluster', id: clusterId },
    queueKey: clusterId,
  });
  return {
    bench,
    all,
    sh,
    wishOf,
    /** A row without members. Nothing looks at it by itself. */
    newCluster: async (): Promise<ClusterId> => {
      const id = newId<ClusterId>();
      await queries.insertCluster(db, workspaceId, { id, name: id, network: null }, new Date());
      await db.run(sql`update clusters set check_at = now() + interval '1 day' where id = ${id}`);
      return id;
    },
    /** As the request does it, before its operation. */
    joining: async (clusterId: ClusterId, servers: readonly WorldServer[]) => {
      for (const { id } of servers)
        assert.ok(await queries.insertMember(db, keyOf(clusterId), id, new Date()), 'it is a member already');
      return wishOf(clusterId, servers);
    },
    leaving: async (clusterId: ClusterId, servers: readonly WorldServer[], isAll: boolean) => {
      const ids = servers.map(({ id }) => id);
      await queries.setMemberStates(db, keyOf(clusterId), ids, 'leaving');
      return wishOf(clusterId, servers, { lost: false, all: isAll });
    },
    /** Undisturbed. */
    done: async (kind: string, wish: ReturnType<typeof wishOf>) => {
      const row = await bench.ended(await bench.enqueue(wish.input, { ...wish, kind }));
      assert.equal(row.state, 'succeeded', `${kind}: ${JSON.stringify(row.fault)}`);
    },
    members: (clusterId: ClusterId) => queries.listMembers(db, workspaceId, [clusterId]),
    cluster: (clusterId: ClusterId) => queries.findCluster(db, keyOf(clusterId)),
    assertUntouched: async (servers: readonly WorldServer[], what: string) => {
      for (const each of servers)
        assert.equal(await sh(each, traces), untouched, `${what}: ${each.server.about.name}`);
    },
  };
}

export type ClusterWorld = Awaited<ReturnType<typeof startClusterWorld>>;

/** One swarm of exactly these: each joined once, is labelled, knows the rules, and is a member in our books. */
export async function assertCluster(
  world: ClusterWorld,
  clusterId: ClusterId,
  servers: readonly WorldServer[],
  what: string,
): Promise<void> {
  const { sh } = world;
  const rows = await world.members(clusterId);
  const wanted = servers.map(({ id }) => id).sort();
  assert.deepEqual(rows.map(({ serverId }) => serverId).sort(), wanted, what);
  assert.deepEqual([...new Set(rows.map(({ state }) => state))], ['ready'], what);
  assert.equal((await world.cluster(clusterId))?.status, 'ready', what);
  const [first] = servers;
  assert.ok(first);
  const printed = await sh(
    first,
    `docker node inspect $(docker node ls -q) --format '{{index .Spec.Labels "slipway.server"}} {{.ID}} {{.Status.State}} {{.Spec.Role}} {{.Spec.Availability}}'`,
  );
  const nodes = printed.split('\n').sort();
  const expected = rows
    .map(({ serverId, nodeId, role }) => `${serverId} ${nodeId} ready ${role} active`)
    .sort();
  assert.deepEqual(nodes, expected, what);
  const addresses = rows.map(({ address }) => address).sort();
  for (const each of servers) {
    const rules = await sh(each, 'nft list table inet slipway_cluster');
    const [known = ''] = /(?<=ip saddr \{ )[\d., ]+(?= \} accept)/.exec(rules) ?? [];
    assert.deepEqual(
      known
        .split(', ')
        .map((text) => text.trim())
        .sort(),
      addresses,
      `${what}: ${rules}`,
    );
  }
}
