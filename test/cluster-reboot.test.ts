import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClusterScene, startClusterScene } from './support/cluster-scene.ts';
import { assertProblem } from './support/problems.ts';
import { until } from './support/until.ts';

async function clusterOf(scene: ClusterScene, ...names: string[]) {
  const servers = [];
  for (const name of names) servers.push(await scene.server(name));
  const id = await scene.cluster(`cluster of ${names.length}`, servers);
  const reboot = (wish: object = {}) => scene.ask('POST', `/clusters/${id}/rolling-reboot`, wish);
  return { id, servers, reboot };
}

test('a rolling reboot goes from workers to the leader, one thing at a time', async () => {
  const scene = await startClusterScene();
  const { id, reboot } = await clusterOf(scene, 'web-1', 'web-2', 'web-3', 'web-4');
  const begun = await reboot({ update: true });
  assert.equal(begun.status, 202, begun.text);
  assertProblem(await reboot(), 409, 'cluster_busy');
  // Nothing is behind the servers, so that it is only begun: with a worker, before any manager.
  const first = await until(async () => {
    const { body } = await scene.ask('GET', `/operations/${begun.body.id}`);
    return Array.from(Object(body.steps), (step) => Object(step).name)[0];
  }, 'its first step');
  assert.equal(first, 'drain web-4');
  const stored = await scene.service.app.store.db.raw(
    `select input from operations where id = '${String(begun.body.id)}'`,
  );
  const { names, update, backWithinMinutes } = Object(Object(stored[0]).input);
  assert.deepEqual([names.at(0), names.at(-1), update, backWithinMinutes], ['web-4', 'web-1', true, 10]);
  assert.equal((await scene.ask('GET', `/clusters/${id}`)).body.operationId, begun.body.id);
  await scene.ask('POST', `/operations/${begun.body.id}/cancel`);
});

test('what would be down is said first, and accepted by whoever asks again', async () => {
  const scene = await startClusterScene();
  const one = await clusterOf(scene, 'solo');
  const alone = await one.reboot();
  assertProblem(alone, 409, 'downtime_unconfirmed');
  assert.match(String(alone.body.detail), /^solo is the only server: everything .* is down/);
  assert.equal(Object(Array.from(Object(alone.body.errors))[0]).path, 'acceptDowntime');
  const two = await clusterOf(scene, 'left', 'right');
  const pair = await two.reboot({ acceptDowntime: false });
  assertProblem(pair, 409, 'downtime_unconfirmed');
  assert.match(String(pair.body.detail), /^While left reboots, the managers have no majority/);
  const accepted = await two.reboot({ acceptDowntime: true });
  assert.equal(accepted.status, 202, accepted.text);
  await scene.ask('POST', `/operations/${accepted.body.id}/cancel`);
});

test('nothing is rebooted while a member is down, and what is no wish is refused with its field', async () => {
  const scene = await startClusterScene();
  const { id, servers, reboot } = await clusterOf(scene, 'web-1', 'web-2', 'web-3');
  for (const wish of [
    { update: 'yes' },
    { backWithinMinutes: 0 },
    { backWithinMinutes: 61 },
    { at: 'night' },
  ])
    assertProblem(await reboot(wish), 400, 'invalid_input');
  await scene.looksAt(id, servers.slice(2));
  const refused = await reboot({ acceptDowntime: true });
  assertProblem(refused, 409, 'server_not_ready');
  assert.match(String(refused.body.detail), /web-3 is down/);
});
