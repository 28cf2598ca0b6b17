import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { lookAtDue } from '../../src/areas/clusters/look.ts';
import { sql } from '../../src/store/sql.ts';
import type { Answer, TestApp } from '../support/app.ts';
import { traces, untouched } from '../support/cluster-world.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import { newPerson } from '../support/people.ts';
import { lastOperation } from '../support/servers.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

/** Three servers that are ready, and what can be asked of them. */
class Ground {
  readonly service: TestApp;
  readonly token: string;
  readonly servers: readonly TestServer[];
  readonly ids: readonly string[];

  private constructor(
    service: TestApp,
    token: string,
    servers: readonly TestServer[],
    ids: readonly string[],
  ) {
    this.service = service;
    this.token = token;
    this.servers = servers;
    this.ids = ids;
  }

  static async open(t: TestContext): Promise<Ground> {
    const service = await sharedTestApp();
    const { token } = await newPerson(service);
    const servers = [];
    const ids: string[] = [];
    for (const place of [1, 2, 3]) {
      const server = await lab.fresh(t, 'provisioned');
      const { keyFile, address: host } = server.about;
      assert.ok(keyFile);
      const auth = { type: 'key', privateKey: readFileSync(keyFile, 'utf8') };
      const made = await service.call('POST', '/servers', {
        token,
        body: { name: `web-${place}`, host, auth },
      });
      assert.equal(made.status, 201, made.text);
      servers.push(server);
      ids.push(String(made.body.id));
    }
    for (const id of ids)
      assert.equal((await lastOperation(service, token, id, 'server_provision')).status, 'succeeded');
    return new Ground(service, token, servers, ids);
  }

  ask(method: string, path: string, body?: object): Promise<Answer> {
    return this.service.call(method, path, { token: this.token, ...(body && { body }) });
  }

  /** Once the operation that the cluster names has ended. */
  async settled(clusterId: string): Promise<Record<string, unknown>> {
    return until(async () => {
      const { body } = await this.ask('GET', '/operations');
      const [newest] = Array.from(Object(body.items), Object).filter(
        (each) => each.subject?.id === clusterId,
      );
      return newest?.finishedAt ? newest : undefined;
    }, 'the operation to end');
  }

  async succeeds(answer: Answer, clusterId: string): Promise<void> {
    assert.equal(answer.status, 202, answer.text);
    const { status, fault } = await this.settled(clusterId);
    assert.equal(status, 'succeeded', JSON.stringify(fault));
  }

  async cluster(id: string) {
    const { body } = await this.ask('GET', `/clusters/${id}`);
    return {
      status: String(body.status),
      problem: Object(body.problem),
      managers: Object(body.managers),
      members: Array.from(Object(body.members), Object),
      overlayEncryption: String(body.overlayEncryption),
    };
  }

  /** Now, and not within the minute. */
  async look(clusterId: string) {
    await this.service.app.store.db.run(
      sql`update clusters set check_at = now() - interval '1 day' where id = ${clusterId}`,
    );
    await lookAtDue(this.service.app.contexts.clusters);
    return this.cluster(clusterId);
  }

  /** With one away at the beginning, for longer than a command may take. */
  async joinWithout(place: number, clusterId: string, serverIds: readonly string[]) {
    await lab.client.cut(this.name(place));
    const joining = await this.ask('POST', `/clusters/${clusterId}/servers`, { serverIds });
    await sleep(25_000);
    await lab.client.heal(this.name(place));
    return joining;
  }

  async sh(place: number, script: string): Promise<string> {
    const { code, stdout, stderr } = await lab.client.console(this.name(place), 'sh', '-euc', script);
    assert.equal(code, 0, `${script}: ${stderr}`);
    return stdout.trim();
  }

  name(place: number): string {
    return this.servers[place]?.about.name ?? '';
  }
}

async function answersOutside(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port, timeout: 1_500 });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket
    .once('connect', () => resolve(true))
    .once('error', () => resolve(false))
    .once('timeout', () => resolve(false));
  const answer = await promise;
  socket.destroy();
  return answer;
}

test('three servers become a cluster, stand the loss of one, say what the loss of two means, and are servers again', async (t) => {
  const ground = await Ground.open(t);
  const [first = '', second = '', third = ''] = ground.ids;

  // What cannot work is found before anything joins, named, and leaves nothing behind.
  await ground.sh(
    1,
    `cp /etc/docker/daemon.json /root/daemon.json
sed -i 's/"live-restore": true/"live-restore": false/' /etc/docker/daemon.json
systemctl reload docker
while docker info --format '{{.LiveRestoreEnabled}}' | grep -q true; do sleep 0.1; done
docker swarm init --advertise-addr ${ground.servers[1]?.about.address} > /dev/null`,
  );
  const wish = { name: 'shop', serverIds: [first, second] };
  const made = await ground.ask('POST', '/clusters', wish);
  assert.equal(made.status, 202, made.text);
  const id = String(made.body.id);
  const foreign = await ground.settled(id);
  assert.equal(Object(foreign.fault).code, 'server_in_swarm', JSON.stringify(foreign.fault));
  await ground.sh(
    1,
    `docker swarm leave --force > /dev/null
docker network rm docker_gwbridge > /dev/null
cp /root/daemon.json /etc/docker/daemon.json
systemctl reload docker`,
  );

  await ground.sh(
    1,
    `nft add table inet closed
nft add chain inet closed input '{ type filter hook input priority -200; }'
nft add rule inet closed input udp dport 4789 drop`,
  );
  const again = await ground.ask('POST', `/clusters/${id}/servers`, { serverIds: [first, second] });
  assert.equal(again.status, 202, again.text);
  const closed = Object((await ground.settled(id)).fault);
  assert.equal(closed.code, 'cluster_ports_closed', JSON.stringify(closed));
  assert.match(closed.message, /^web-1 does not reach web-2 \(\S+\) on 4789\/udp \(no answer\)\.$/);
  assert.equal((await ground.cluster(id)).problem.code, 'cluster_ports_closed');
  for (const place of [0, 1]) assert.equal(await ground.sh(place, traces), untouched);
  await ground.sh(1, 'nft delete table inet closed');

  // One is away for a while. Its Docker has not read what its file says: so it is where it started while the file was written.
  await ground.sh(1, `sed -i 's/"live-restore": true/"live-restore": false/' /etc/docker/daemon.json`);
  await ground.succeeds(await ground.joinWithout(1, id, [first, second]), id);
  const two = await ground.cluster(id);
  assert.deepEqual([two.status, two.managers.wanted, two.managers.present], ['ready', 1, 1]);
  // Their only manager is away for a while, as when it is rebooted.
  const manager = ground.ids.indexOf(two.members.find(({ role }) => role === 'manager')?.serverId);
  await ground.succeeds(await ground.joinWithout(manager, id, [third]), id);
  const three = await ground.cluster(id);
  assert.equal(three.status, 'ready', JSON.stringify(three.problem));
  assert.equal(three.managers.inWords, '3 of 3 managers answer; one more may be lost.');
  assert.deepEqual(
    three.members.map(({ state, role }) => `${state} ${role}`),
    Array(3).fill('ready manager'),
  );
  assert.match(three.overlayEncryption, /^(un)?available$/);
  assert.equal(
    await ground.sh(
      0,
      `docker node ls --format '{{.Status}} {{.ManagerStatus}}' | sort | uniq -c | tr -s ' '`,
    ),
    '1 Ready Leader\n 2 Ready Reachable',
  );
  assert.equal(
    await ground.sh(
      0,
      `docker network inspect ingress docker_gwbridge --format '{{range .IPAM.Config}}{{.Subnet}}{{end}}'`,
    ),
    '198.19.0.0/24\n198.18.240.0/20',
  );
  assert.equal(await ground.sh(2, `docker info --format '{{.LiveRestoreEnabled}}'`), 'false');
  // Provisioning it again does not break the swarm at the next restart of Docker.
  assert.equal((await ground.ask('POST', `/servers/${third}/provision`)).status, 202);
  await lastOperation(ground.service, ground.token, third, 'server_provision');
  await ground.sh(2, 'systemctl restart docker');
  await until(
    async () => (await ground.look(id)).status === 'ready',
    'web-3 to be back after a restart of Docker',
  );

  // The ports of Swarm are the members' alone.
  for (const { about } of ground.servers)
    for (const port of [2377, 7946])
      assert.equal(await answersOutside(about.address, port), false, `${about.name}:${port}`);
  assert.equal(await answersOutside(ground.servers[0]?.about.address ?? '', 80), true);

  // What moves to a member must be in reach of all others: its rules are put back first, where it was away when one joined, say.
  await ground.sh(2, 'nft delete table inet slipway_cluster');
  const drained = await ground.ask('POST', `/clusters/${id}/servers/${second}/drain`);
  await ground.succeeds(drained, id);
  const rules = await ground.sh(2, 'nft list table inet slipway_cluster');
  for (const { about } of ground.servers.slice(0, 2)) assert.ok(rules.includes(about.address), rules);
  assert.deepEqual(
    (await ground.cluster(id)).members.map((each) => each.availability),
    ['active', 'drain', 'active'],
  );
  await ground.succeeds(await ground.ask('POST', `/clusters/${id}/servers/${second}/activate`), id);
  assert.equal(await ground.sh(0, `docker node ls --format '{{.Availability}}' | sort -u`), 'Active');

  await lab.client.cut(ground.name(2));
  const one = await until(async () => {
    const seen = await ground.look(id);
    return seen.status === 'degraded' && seen;
  }, 'the loss of web-3 to be seen');
  assert.equal(one.problem.message, 'web-3 is down.');
  assert.match(one.managers.inWords, /^2 of 3 managers answer; if one more is lost/);
  await lab.client.cut(ground.name(1));
  const lost = await until(async () => {
    const seen = await ground.look(id);
    return seen.status === 'no_quorum' && seen;
  }, 'the loss of the majority to be seen');
  assert.match(lost.managers.inWords, /^1 of 3 managers answer, and 2 are needed/);
  assert.match(lost.problem.hint, /^Start one of web-2, web-3 again\./);
  await lab.client.heal(ground.name(1));
  await until(async () => (await ground.look(id)).status === 'degraded', 'the majority to be back');

  // Gone for good, as far as the cluster knows: it is only forgotten.
  const removed = await ground.ask('DELETE', `/clusters/${id}/servers/${third}?lost=true`);
  await ground.succeeds(removed, id);
  const left = await ground.cluster(id);
  assert.deepEqual([left.status, left.managers.present, left.members.length], ['ready', 1, 2]);
  await lab.client.heal(ground.name(2));

  await ground.succeeds(await ground.ask('DELETE', `/clusters/${id}/servers/${second}`), id);
  assert.equal(await ground.sh(1, traces), untouched);
  const gone = await ground.ask('DELETE', `/clusters/${id}`);
  assert.equal(gone.status, 202, gone.text);
  await until(
    async () => (await ground.ask('GET', `/clusters/${id}`)).status === 404,
    'the cluster to be gone',
  );
  assert.equal(await ground.sh(0, traces), untouched);
  assert.equal((await ground.ask('GET', `/servers/${first}`)).body.clusterId, null);
});
