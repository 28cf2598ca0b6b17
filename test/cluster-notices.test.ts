import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noticeText } from '../src/areas/notifications/notice-text.ts';
import { startClusterScene } from './support/cluster-scene.ts';
import { noticesIn } from './support/notifications.ts';

const nowhere = { project: null, environment: null, address: null };

test('a cluster that loses a server, its majority or all of its managers is told once each, and when it is whole again', async () => {
  const scene = await startClusterScene();
  const servers = [];
  for (const name of ['web-1', 'web-2', 'web-3']) servers.push(await scene.server(name));
  const [first, ...others] = servers;
  assert.ok(first);
  const id = await scene.cluster('shop', servers);
  const workspaceId = await scene.workspaceOf(id);
  // Each twice: what stays as it is is no news.
  for (const [down, answering] of [
    [others.slice(1), []],
    [null, [first]],
    [null, []],
    [[], []],
  ] as const)
    for (let times = 0; times < 2; times += 1) await scene.looksAt(id, down, answering);
  const raised = await noticesIn(scene.service, workspaceId);
  const told = raised
    .filter(({ kind }) => kind.startsWith('cluster_'))
    .map((notice) => ({ ...notice, ...noticeText(notice, nowhere) }));
  assert.deepEqual(
    told.map(({ kind, tone, title }) => [kind, tone, title]),
    [
      ['cluster_degraded', 'warning', 'The cluster shop goes on without one of its servers'],
      ['cluster_no_quorum', 'bad', 'The managers of the cluster shop have lost their majority'],
      ['cluster_unreachable', 'bad', 'No manager of the cluster shop can be reached'],
      ['cluster_recovered', 'good', 'The cluster shop is whole again'],
    ],
  );
  assert.deepEqual(
    told.map(({ projectId }) => projectId),
    [null, null, null, null],
  );
  assert.match(told[0]?.summary ?? '', /^web-3 is down\. What ran there runs on the others\./);
  assert.match(
    told[1]?.summary ?? '',
    /^1 of 3 managers answer, and 2 are needed.*Start one of web-2, web-3/s,
  );
  assert.deepEqual(told[3]?.facts, [{ name: 'Cluster', value: 'shop' }]);
});

test('a cluster that has just been made is not told to be whole again', async () => {
  const scene = await startClusterScene();
  const id = await scene.cluster('shop', [await scene.server('web-1')], 'creating');
  await scene.looksAt(id, []);
  const raised = await noticesIn(scene.service, await scene.workspaceOf(id));
  assert.deepEqual(
    raised.filter(({ kind }) => kind.startsWith('cluster_')),
    [],
  );
});
