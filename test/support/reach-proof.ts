/** That neither applications nor builds reach what they have no business with; on each kind of server by a test of its own. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Remote } from '../../src/remote/remote.ts';
import type { TestServer } from './lab.ts';
import {
  allAre,
  build,
  exporterPort,
  layTraps,
  loopbackPort,
  metadata,
  neighbour,
  runApp,
  runOwners,
  trapsMet,
  tryFrom,
  tryFromBuild,
} from './reach.ts';
import { failsWith } from './remote.ts';
import { until } from './until.ts';

/** On a server that was made ready; with all ways of fetching, or one of each kind. */
export async function proveReach(
  t: TestContext,
  { about }: TestServer,
  remote: Remote,
  fetches: 'all' | 'some',
): Promise<void> {
  await layTraps(remote);
  const app = await runApp(remote, 2000);
  const other = await runApp(remote, 2001);
  await runOwners(remote, 'owners');
  const clouds = metadata.map((each) => `${each}:80`);
  const ofServer = [about.address, app.gateway].flatMap((each) => [`${each}:22`, `${each}:${exporterPort}`]);
  const others = [`${neighbour}:80`, `${about.address}:80`];

  await t.test("whoever wants the cloud's credentials gets none through an application", async () => {
    assert.deepEqual(await tryFrom(remote, 'owners', clouds), allAre('open', clouds), "the owner's own may");
    assert.deepEqual(await tryFrom(remote, app.name, clouds), allAre('refused', clouds));
  });

  await t.test(
    'whoever wants sshd, or what else listens on the server, gets no way in by the bridge',
    async () => {
      assert.deepEqual(
        await tryFrom(remote, 'owners', ofServer.slice(0, 2)),
        allAre('open', ofServer.slice(0, 2)),
      );
      assert.deepEqual(await tryFrom(remote, app.name, ofServer), allAre('refused', ofServer));
      assert.deepEqual(await tryFrom(remote, app.name, others), allAre('open', others), 'what it may have');
      const six = (await remote.output(['docker', 'exec', app.name, 'cat', '/proc/net/if_inet6'])).toString();
      assert.doesNotMatch(six, /eth0/, 'there is no IPv6 to go around by');
    },
  );

  await t.test('whoever has one application on the server does not reach the next', async () => {
    assert.deepEqual(
      await tryFrom(remote, app.name, [`${app.address}:8080`]),
      allAre('open', [`${app.address}:8080`]),
    );
    // Docker drops it, so there is no answer to wait for.
    const next = await tryFrom(remote, app.name, [`${other.address}:8080`], 5_000);
    assert.notEqual(next[`${other.address}:8080`], 'open');
  });

  await t.test(
    'whoever wants what listens on the loopback of the server gets nothing by ADD and FROM',
    async () => {
      const loopback = `127.0.0.1:${loopbackPort}`;
      await build(remote, `FROM scratch\nADD http://${neighbour}/ /file\n`);
      await trapsMet(remote);
      const more = [
        `http://localhost:${loopbackPort}/`,
        ...clouds.slice(1).map((each) => `http://${each}/`),
        `http://${neighbour}/to/http://${metadata[0]}/`,
      ];
      const wanted = [
        `http://${loopback}/`,
        `http://${about.address}:${exporterPort}/`,
        `http://${metadata[0]}/`,
        `http://${neighbour}/to/http://${loopback}/`,
        `http://${app.address}:8080/`,
        ...(fetches === 'all' ? more : []),
      ];
      // All at once: the first that ends leaves the others guarded.
      await Promise.all([
        ...wanted.map((url) =>
          assert.rejects(build(remote, `FROM scratch\nADD ${url} /file\n`), failsWith('build_failed'), url),
        ),
        assert.rejects(build(remote, `FROM ${loopback}/x:1\n`), failsWith('build_failed')),
      ]);
      assert.deepEqual(await trapsMet(remote), [`${neighbour}:80`]);
    },
  );

  await t.test('whoever wants any of it from a step of a build gets none', async () => {
    const bridge = (
      await remote.script("docker network inspect -f '{{(index .IPAM.Config 0).Gateway}}' bridge", [])
    )
      .toString()
      .trim();
    const owners = await remote.output([
      'docker',
      'inspect',
      '-f',
      '{{.NetworkSettings.IPAddress}}',
      'owners',
    ]);
    const wanted = [
      ...clouds,
      ...[about.address, bridge].flatMap((each) => [`${each}:22`, `${each}:${exporterPort}`]),
      `${app.address}:8080`,
      `${owners.toString().trim()}:8080`,
    ];
    const tried = await tryFromBuild(remote, [...wanted, ...others]);
    assert.deepEqual(tried, { ...allAre('refused', wanted), ...allAre('open', others) });
    assert.deepEqual(await trapsMet(remote), [`${neighbour}:80`]);
  });

  await t.test('whoever asks for the network of the server itself is refused', async () => {
    const step = `FROM node:24-slim\nRUN --network=host true\n`;
    await assert.rejects(build(remote, step), failsWith('build_failed', /network|flag/));
  });

  await t.test("the owner's containers go where they went, while a build runs and after it", async () => {
    const wait = `require('node:http').get('http://${neighbour}/wait', (r) => r.pipe(process.stdout))`;
    const building = build(remote, `FROM node:24-slim\nRUN ${JSON.stringify(['node', '-e', wait])}\n`);
    building.catch(() => undefined);
    await until(async () => (await trapsMet(remote)).includes(`${neighbour}:80`), 'the build to wait');
    assert.deepEqual(await tryFrom(remote, 'owners', clouds), allAre('open', clouds));
    await runOwners(remote, 'late');
    await until(
      async () => Object.values(await tryFrom(remote, 'late', clouds)).every((each) => each === 'open'),
      'one that was started meanwhile to be known',
    );
    await remote.output(['touch', '/run/traps-go']);
    await building;
    const tables = (await remote.output(['nft', 'list', 'tables'])).toString();
    assert.match(tables, /inet slipway_apps$/m);
    assert.doesNotMatch(tables, /slipway_builds/);
  });
}
