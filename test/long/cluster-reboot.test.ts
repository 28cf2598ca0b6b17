/** A rolling reboot of real servers, with the service killed on the way, and one that does not come back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinKind, rebootKind } from '../../src/areas/clusters/clusters.ts';
import type { WorldServer } from '../support/cluster-world.ts';
import { startClusterWorld } from '../support/cluster-world.ts';
import { openLab } from '../support/lab.ts';
import { killAtEachWrite } from '../support/operation-trials.ts';

const lab = await openLab();

const countBoots = `cat > /etc/systemd/system/boots.service <<'end'
[Service]
Type=oneshot
ExecStart=sh -c 'echo boot >> /root/boots'
[Install]
WantedBy=multi-user.target
end
: > /root/boots
systemctl enable --quiet boots.service`;

test('servers reboot one after the other, each once also where the service is killed, and one that stays away stops it', async (t) => {
  const world = await startClusterWorld(t, lab, 3);
  const { bench, all, sh } = world;
  const [first, second, third] = all;
  assert.ok(first && second && third);
  const id = await world.newCluster();
  const host = await bench.host();
  await world.done(joinKind, await world.joining(id, all));
  for (const each of all) await sh(each, countBoots);
  // An image that each of them has, so that nothing is pulled.
  const image = await sh(first, `docker image ls --format '{{.Repository}}:{{.Tag}}' | head -1`);
  await sh(
    first,
    `docker service create --quiet --no-resolve-image --name held --replicas 3 --entrypoint sleep ${image} infinity`,
  );
  const running = (on: WorldServer) =>
    sh(
      on,
      `docker service ls --format '{{.Name}} {{.Replicas}}'; docker node ls --format '{{.Status}} {{.Availability}}' | sort | uniq -c | tr -s ' '`,
    );
  const boots = () => Promise.all(all.map((each) => sh(each, 'wc -l < /root/boots')));
  const wish = (backWithinMinutes: number) =>
    world.wishOf(id, all, { names: ['web-1', 'web-2', 'web-3'], update: false, backWithinMinutes });
  await host.stop();

  let before: readonly string[] = [];
  await killAtEachWrite(bench, {
    kind: rebootKind,
    // While it is away, and when it is back and nobody has written that down.
    aroundWorkOnly: true,
    steps: ['reboot web-2'],
    begin: async () => {
      before = await boots();
      return wish(10);
    },
    check: async (_how, what) => {
      const once = before.map((count) => String(Number(count) + 1));
      assert.deepEqual(await boots(), once, what);
      assert.equal(await running(first), 'held 3/3\n 3 Ready Active', what);
      assert.deepEqual(
        (await world.members(id)).map(({ state, availability }) => `${state} ${availability}`),
        Array(3).fill('ready active'),
        what,
      );
      assert.equal((await world.cluster(id))?.status, 'ready', what);
    },
  });

  before = await boots();
  await sh(second, 'systemctl disable --quiet ssh.service');
  const last = await bench.host();
  const row = await bench.ended(await bench.enqueue(wish(1).input, { ...wish(1), kind: rebootKind }));
  assert.equal(row.state, 'failed');
  assert.deepEqual([row.fault?.code, row.fault?.step], ['remote_unreachable', 'reboot web-2']);
  const counts = before.map(Number);
  assert.deepEqual((await boots()).map(Number), [(counts[0] ?? 0) + 1, (counts[1] ?? 0) + 1, counts[2]]);
  // Nothing stays drained, so that it is in use again when somebody has mended it.
  assert.equal(await running(third), 'held 3/3\n 3 Ready Active');
  await last.stop();
});
