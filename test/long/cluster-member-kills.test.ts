/** Servers that leave a cluster and join it, killed at the writes of the journal, with visitors at the proxies that stay. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { joinKind, leaveKind } from '../../src/areas/clusters/clusters.ts';
import { look, of } from '../faults/aftermath.ts';
import { clusterWrongs } from '../faults/cluster-aftermath.ts';
import { Ground } from '../faults/ground.ts';
import { type KilledWork, killedAt } from '../support/cluster-kills.ts';
import { openLab } from '../support/lab.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const lab = await openLab();
const ground = await Ground.open(lab.client, lab.about, await createTestDatabase(), {
  leaseMs: 2_000,
  servers: 3,
  settings: { FAULTS_KINDS: [joinKind, leaveKind].join() },
});
after(() => ground.close());

const { serverId: home, placement } = await ground.environment();
const { clusterId } = Object(placement);
const serverIds = await Promise.all(ground.servers.map(async ({ name }) => idOf(name)));
/** Not the one that images are built on. */
const place = serverIds.findIndex((id) => id !== home);
const [leaver, leaverId] = [ground.servers[place], serverIds[place]];
const staying = ground.servers.filter((each) => each !== leaver);

async function idOf(name: string): Promise<string> {
  const { items } = await ground.call('GET', '/servers?limit=100');
  const found = Array.from(Object(items), Object).find((each) => each.name === name);
  return String(found?.id);
}

const forwards = (...names: readonly string[]) => [
  'begun',
  ...names.flatMap((name) => [`${name} running`, `${name} done`]),
  'succeeded',
];
const undoing = (...names: readonly string[]) => [
  'turn cancelled',
  ...names.flatMap((name) => [`${name} undoing`, `${name} undone`]),
  'cancelled',
];

function memberKilledAt(
  t: TestContext,
  work: Pick<KilledWork, 'entries' | 'begin' | 'cancel'>,
  isMember: boolean,
): Promise<string> {
  return killedAt(t, ground, {
    ...work,
    visited: staying,
    ended: async (id) => {
      const { status, fault } = await until(async () => {
        const operation = await ground.call('GET', `/operations/${id}`);
        return operation.finishedAt !== null && operation;
      }, 'the operation to end');
      return `${status}${fault ? ` ${JSON.stringify(fault)}` : ''}`;
    },
    wrongs: async () => [
      ...(await clusterWrongs(ground, isMember ? ground.servers : staying, [
        ground.environmentId,
        ground.otherId,
      ])),
      ...(await memberWrongs(isMember)),
      ...(isMember ? await lackedByJoiner() : await leftOnLeaver()),
    ],
  });
}

async function memberWrongs(isMember: boolean): Promise<string[]> {
  const { status, members } = await ground.call('GET', `/clusters/${clusterId}`);
  const states = Array.from(Object(members), (each) => Object(each).state).join();
  const wanted = Array.from(isMember ? ground.servers : staying, () => 'ready').join();
  return status === 'ready' && states === wanted ? [] : [`the cluster is ${status}, its members ${states}`];
}

/** A replica that Swarm moves there has to find it. */
async function lackedByJoiner(): Promise<string[]> {
  const images = await ground.sh('docker images --quiet --filter label=slipway=image', leaver);
  return images === '' ? ['it has no image'] : [];
}

/** As a server is that never was in a cluster. */
async function leftOnLeaver(): Promise<string[]> {
  const seen = await ground.sh(look, leaver);
  const swarm = await ground.sh(
    `docker info --format '{{.Swarm.LocalNodeState}}, live-restore {{.LiveRestoreEnabled}}'`,
    leaver,
  );
  const files = await ground.sh(
    'ls /var/lib/slipway/proxy/config | grep ^front- || true; docker images --quiet --filter label=slipway=image',
    leaver,
  );
  return [
    ...of(seen, 'container').map((each) => `${each} is left`),
    ...(swarm === 'inactive, live-restore true' ? [] : [`Docker says: ${swarm}`]),
    ...(files === '' ? [] : [`left: ${files}`]),
  ];
}

const joining = async () =>
  String((await ground.call('POST', `/clusters/${clusterId}/servers`, { serverIds: [leaverId] })).id);

test('killed at each write of its journal, a server leaves and keeps nothing', async (t) => {
  const entries = forwards('drain', 'managers', 'leave', 'tidy', 'forget');
  const begin = async () =>
    String((await ground.call('DELETE', `/clusters/${clusterId}/servers/${leaverId}`)).id);
  assert.equal(await memberKilledAt(t, { entries, begin }, false), 'succeeded');
});

test('killed at each write of its undoing, a join that was cancelled leaves the server as it was', async (t) => {
  const entries = undoing('swarm', 'docker', 'firewall');
  const cancel = {
    at: 'swarm',
    ask: (id: string) => ground.call('POST', `/operations/${id}/cancel`),
  };
  assert.match(await memberKilledAt(t, { entries, begin: joining, cancel }, false), /^cancelled/);
});

test('killed at each write of its journal, a server joins and has its share', async (t) => {
  const entries = forwards('check', 'firewall', 'ports', 'docker', 'swarm', 'managers', 'ready');
  assert.equal(await memberKilledAt(t, { entries, begin: joining }, true), 'succeeded');
});
