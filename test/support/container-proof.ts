/** What the adapter asks of Docker, tried on a real one: on each version that servers have, by a test of its own. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { VariantName } from '../../lab/servers/variants.ts';
import { ask } from '../../src/adapters/docker/ask.ts';
import { ensureContainerGroup } from '../../src/adapters/docker/container-group.ts';
import {
  containerLogs,
  createContainer,
  inspectContainer,
  listContainers,
  readContainer,
  readContainers,
  readLogs,
  readMemory,
  removeContainer,
  startContainer,
  statsOf,
  stopContainer,
} from '../../src/adapters/docker/containers.ts';
import type { ContainerSpec } from '../../src/adapters/docker/docker.ts';
import {
  inspectImage,
  listImages,
  pullUnit,
  readImage,
  readImages,
  removeImage,
} from '../../src/adapters/docker/images.ts';
import { createNetwork, removeNetwork } from '../../src/adapters/docker/networks.ts';
import { listeningIn } from '../../src/adapters/docker/sockets.ts';
import { createVolume, listVolumes, readVolumes, removeVolume } from '../../src/adapters/docker/volumes.ts';
import { forContainers } from '../../src/engine/capacity.ts';
import type { Remote } from '../../src/remote/remote.ts';
import { followUnit } from '../../src/remote/units/follow-unit.ts';
import { Secret } from '../../src/secret.ts';
import { labCapacity, type TestLab } from './lab.ts';
import { connect, failsWith } from './remote.ts';
import { until } from './until.ts';

const labels = { 'slipway.test': 'yes', 'slipway.of': 'a b&c="d"' };
const subnet = { name: 'slipway-net', subnet: '10.77.3.0/24', gateway: '10.77.3.1', labels };
const image = 'python:3-slim';

/** As this Docker wants it; known from the beginning of the proof on. */
let group = '';

const wishOf = (name: string, more: Partial<ContainerSpec> = {}): ContainerSpec => ({
  name,
  image,
  labels,
  network: subnet.name,
  environment: new Map(),
  entrypoint: ['sh', '-c'],
  command: ['sleep 3600'],
  restart: 'no',
  stopSeconds: 5,
  memoryMb: 256,
  cpus: 0.9,
  cgroupParent: group,
  ...more,
});

const environmentOf = (values: Record<string, string>) =>
  new Map(Object.entries(values).map(([key, value]) => [key, new Secret(value)]));

async function stateOf(remote: Remote, name: string) {
  const [reply] = await ask(remote, [inspectContainer(name)]);
  return reply && readContainer(reply);
}

/** Runs to its end, and gives what it printed. */
async function outputOf(remote: Remote, wish: ContainerSpec) {
  await ask(remote, [createContainer(wish), startContainer(wish.name)]);
  const ended = await until(async () => {
    const state = await stateOf(remote, wish.name);
    return state?.status === 'exited' ? state : undefined;
  }, `${wish.name} to end`);
  const [logs] = await ask(remote, [containerLogs(wish.name, 1000), removeContainer(wish.name)]);
  return { state: ended, lines: readLogs(logs?.bytes ?? Buffer.alloc(0)) };
}

const outOf = (lines: readonly { line: string }[]) => lines.map(({ line }) => line).join('\n');

/** Everything that is asked of Docker, on a server of that kind. */
export async function proveContainers(t: TestContext, lab: TestLab, variant: VariantName): Promise<void> {
  const machine = await lab.fresh(t, variant);
  const remote = connect(t, machine);
  const signal = t.signal;
  await followUnit(
    remote,
    { name: 'slipway-pull', argv: pullUnit(image), what: 'The pull' },
    { signal, line: () => undefined },
  );

  // Side by side, as those who come after Docker was started again.
  const asked = Array.from({ length: 12 }, () =>
    ensureContainerGroup(remote, forContainers(labCapacity), signal),
  );
  const groups = new Set(await Promise.all(asked));
  assert.equal(groups.size, 1);
  [group = ''] = groups;

  await t.test('networks and volumes are made, listed and removed', async () => {
    const replies = await ask(remote, [
      createNetwork(subnet),
      createNetwork(subnet),
      createVolume('slipway-data', labels),
      createVolume('slipway-data', labels),
      createVolume('slipway-other', { 'slipway.test': 'no' }),
      listVolumes(labels),
      removeVolume('slipway-other'),
      removeVolume('slipway-other'),
      removeNetwork('slipway-none'),
    ]);
    assert.deepEqual(
      replies.map(({ status }) => status),
      [201, 409, 201, 201, 201, 200, 204, 404, 404],
    );
    assert.deepEqual(readVolumes(replies[5] ?? assert.fail()), [{ name: 'slipway-data', labels }]);
    const found = await remote.output(['docker', 'network', 'ls', '--quiet', '--filter', 'name=slipway-net']);
    assert.equal(found.toString().trim().split('\n').length, 1);
  });

  await t.test('a container is made, started, stopped and removed, each twice', async () => {
    const wish = wishOf('slipway-twice', {
      address: '10.77.3.9',
      aliases: ['web'],
      restart: 'unless-stopped',
    });
    const made = await ask(remote, [
      createContainer(wish),
      createContainer(wish),
      inspectContainer(wish.name),
      startContainer(wish.name),
      startContainer(wish.name),
      inspectContainer(wish.name),
      listContainers(labels),
      statsOf(wish.name),
    ]);
    assert.deepEqual(
      made.map(({ status }) => status),
      [201, 409, 200, 204, 304, 200, 200, 200],
    );
    const [created, running] = [made[2], made[5]].map((reply) => reply && readContainer(reply));
    assert.deepEqual([created?.status, created?.pid, created?.startedAt], ['created', 0, null]);
    assert.equal(created?.address, '10.77.3.9');
    assert.deepEqual([running?.name, running?.status, running?.address], [wish.name, 'running', '10.77.3.9']);
    assert.deepEqual(running?.labels?.['slipway.of'], labels['slipway.of']);
    assert.ok((running?.pid ?? 0) > 0 && running?.startedAt && running.image.startsWith('sha256:'));
    assert.deepEqual(
      readContainers(made[6] ?? assert.fail()).map(({ name, status, address, image: id }) => [
        name,
        status,
        address,
        id,
      ]),
      [[wish.name, 'running', '10.77.3.9', running?.image]],
    );
    assert.ok((readMemory(made[7] ?? assert.fail())?.usedBytes ?? 0) > 0);
    const ended = await ask(remote, [
      stopContainer(wish.name, 1),
      stopContainer(wish.name, 1),
      inspectContainer(wish.name),
      removeContainer(wish.name),
      removeContainer(wish.name),
      stopContainer(wish.name, 1),
      inspectContainer(wish.name),
    ]);
    assert.deepEqual(
      ended.map(({ status }) => status),
      [204, 304, 200, 204, 404, 404, 404],
    );
    assert.equal(readContainer(ended[2] ?? assert.fail())?.status, 'exited');
    assert.equal(readContainer(ended[6] ?? assert.fail()), undefined);
  });

  await t.test('its variables are exactly what was given, and nothing in them is run', async () => {
    const values = {
      LINES: 'one\ntwo\n\n',
      QUOTES: `'"\`\\ "`,
      SHELL_CANARY: '$(touch /tmp/ran) `touch /tmp/ran`; touch /tmp/ran #',
      UNICODE: 'é😀',
      EMPTY: '',
      EQUALS: 'a=b=c',
    };
    const keys = Object.keys(values).join(' ');
    const print = `import os, json; print(json.dumps({k: os.environ[k] for k in '${keys}'.split()}))`;
    const wish = wishOf('slipway-env', {
      environment: environmentOf(values),
      entrypoint: ['python3', '-c'],
      command: [print],
    });
    const { lines, state } = await outputOf(remote, wish);
    assert.equal(state.exitCode, 0, outOf(lines));
    assert.deepEqual(JSON.parse(outOf(lines)), values);
    assert.equal((await remote.run(['ls', '/tmp/ran'])).code, 2);
    const bad = (key: string, value: string) =>
      createContainer(wishOf('slipway-bad', { environment: environmentOf({ [key]: value }) }));
    assert.throws(() => bad('A=B', ''), failsWith('invalid_input'));
    assert.throws(() => bad('A', 'x\0y'), failsWith('invalid_input'));
  });

  await t.test('it is closed off: no privileges, no capabilities, limits that hold', async () => {
    const probe = `grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/1/status
cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/memory/memory.limit_in_bytes
touch /tmp/mine; chown 1234 /tmp/mine && echo chowned
setpriv --reuid 1234 true && echo setuid
cat /proc/1/comm; exit 7`;
    const wish = wishOf('slipway-hard', { command: [probe], memoryMb: 64, cpus: 0.5 });
    const { lines, state } = await outputOf(remote, wish);
    const said = outOf(lines);
    assert.match(said, /CapEff:\s+0{16}/);
    assert.match(said, /CapBnd:\s+0{16}/);
    assert.match(said, /NoNewPrivs:\s+1/);
    assert.match(said, /^512$/m);
    assert.match(said, new RegExp(`^${64 * 1024 * 1024}$`, 'm'));
    assert.doesNotMatch(said, /chowned|setuid$/m);
    assert.match(said, /docker-init|tini/);
    assert.deepEqual([state.exitCode, state.isOutOfMemory], [7, false]);

    const more = {
      command: ['touch /tmp/mine; chown 1234 /tmp/mine && echo chowned'],
      capabilities: ['CHOWN'],
    };
    assert.match(outOf((await outputOf(remote, wishOf('slipway-cap', more))).lines), /chowned/);
    const user = { command: ['id -u'], user: '1234:1234' };
    assert.equal(outOf((await outputOf(remote, wishOf('slipway-user', user))).lines), '1234');

    await ask(remote, [createContainer(wishOf('slipway-seen', { memoryMb: 64, cpus: 0.5 }))]);
    const format = '{{json .HostConfig}}';
    const shown = await remote.output(['docker', 'inspect', '--format', format, 'slipway-seen']);
    const config = JSON.parse(shown.toString());
    assert.deepEqual(
      [config.Memory, config.MemorySwap, config.NanoCpus, config.Privileged],
      [64 * 1024 * 1024, 64 * 1024 * 1024, 500_000_000, false],
    );
    assert.deepEqual(Object.keys(config.PortBindings ?? {}), []);
    assert.deepEqual(config.LogConfig, {
      Type: 'json-file',
      Config: { 'max-file': '3', 'max-size': '10m' },
    });
    await ask(remote, [removeContainer('slipway-seen')]);
  });

  await t.test('one that takes too much memory is ended, and it is told why', async () => {
    const command = ['tail /dev/zero; exit 9'];
    const { state } = await outputOf(remote, wishOf('slipway-oom', { command, memoryMb: 32 }));
    assert.deepEqual([state.isOutOfMemory, state.exitCode], [true, 9]);
  });

  await t.test('what it prints is told apart by stream, in whole lines with their times', async () => {
    const command = ['echo out; echo err >&2; printf "no end"'];
    const { lines } = await outputOf(remote, wishOf('slipway-said', { command }));
    const told = lines.map(({ stream, line }) => `${stream}: ${line}`).sort();
    assert.deepEqual(told, ['stderr: err', 'stdout: no end', 'stdout: out']);
    for (const { at } of lines) assert.ok(!Number.isNaN(Date.parse(at)), at);
  });

  await t.test('it answers at its address, what listens in it is known, and its data stay', async () => {
    const command = ['cd /data && echo kept > file && exec python3 -m http.server 8000'];
    const volumes = [{ volume: 'slipway-data', path: '/data' }];
    const wish = wishOf('slipway-web', {
      command,
      volumes,
      address: '10.77.3.20',
      restart: 'unless-stopped',
    });
    await ask(remote, [createContainer(wish), startContainer(wish.name)]);
    const get = {
      to: { host: '10.77.3.20', port: 8000 },
      send: 'GET /file HTTP/1.0\r\n\r\n',
      expect: '^HTTP/1.. 200.*kept',
      until: { everyMs: 100, forMs: 20_000 },
    };
    const answers = async () => (await remote.relay([get]))[0]?.last.isMet;
    assert.equal(await answers(), true);
    const pid = (await stateOf(remote, wish.name))?.pid ?? 0;
    const listening = await listeningIn(remote, pid);
    assert.ok(
      listening.some(
        ({ address, port, isLoopback }) => address === '0.0.0.0' && port === 8000 && !isLoopback,
      ),
    );
    assert.deepEqual(await listeningIn(remote, 4_000_000), []);

    await remote.output(['docker', 'restart', '--time', '1', wish.name]);
    assert.equal(await answers(), true, 'after a restart');

    const liveRestore = `sed -i 's/^{/{"live-restore":true,/' /etc/docker/daemon.json; systemctl restart docker`;
    await remote.script(liveRestore, []);
    const before = (await stateOf(remote, wish.name))?.pid;
    await remote.script('systemctl restart docker', []);
    const after = await stateOf(remote, wish.name);
    assert.deepEqual([after?.status, after?.address, after?.pid], ['running', '10.77.3.20', before]);
    assert.equal(await answers(), true, 'after a restart of the daemon');

    await ask(remote, [removeContainer(wish.name)]);
    const again = wishOf('slipway-again', { command: ['cat /data/file'], volumes });
    assert.equal(outOf((await outputOf(remote, again)).lines), 'kept');
  });

  await t.test('images are known by what they hold, and go only when nothing needs them', async () => {
    const [reply, none, , inUse] = await ask(remote, [
      inspectImage(image),
      inspectImage('slipway/none:1'),
      createContainer(wishOf('slipway-holds')),
      removeImage(image),
    ]);
    const facts = readImage(reply ?? assert.fail());
    assert.match(facts?.id ?? '', /^sha256:/);
    assert.ok((facts?.sizeBytes ?? 0) > 1_000_000 && Array.isArray(facts?.exposedPorts));
    assert.equal(readImage(none ?? assert.fail()), undefined);
    assert.equal(inUse?.status, 409);
    const replies = await ask(remote, [
      listImages({ 'slipway.test': 'yes' }),
      removeContainer('slipway-holds'),
      removeImage('slipway/none:1'),
    ]);
    assert.deepEqual(readImages(replies[0] ?? assert.fail()), []);
    assert.equal(replies[2]?.status, 404);
  });

  await t.test('what Docker refuses is a fault in its own words, without secrets in it', async () => {
    const secret = new Secret('hush-hush-canary');
    const wish = wishOf('slipway-lost', { network: `none-${secret.reveal()}` });
    await assert.rejects(
      ask(remote, [createContainer(wish), startContainer(wish.name)], { secrets: [secret] }),
      failsWith('docker_failed', /network none-\[secret\] not found/),
    );
    const absent = createContainer(
      wishOf('slipway-lost', { image: 'slipway/none:1', name: 'slipway-lost2' }),
    );
    await assert.rejects(ask(remote, [absent]), failsWith('docker_failed', /no such image/i));
    await assert.rejects(ask(remote, [startContainer('slipway-none')]), failsWith('docker_failed'));
    await assert.rejects(
      ask(remote, [{ method: 'GET', path: '/x HTTP/1.0\r\n', ok: [200] }]),
      failsWith('invalid_input'),
    );
    await ask(remote, [removeContainer('slipway-lost')], { fence: { scope: 'dock', epoch: 3 } });
    await assert.rejects(
      ask(remote, [removeContainer('slipway-lost')], { fence: { scope: 'dock', epoch: 2 } }),
      failsWith('remote_fenced'),
    );
    await remote.script('systemctl stop docker.socket docker.service', []);
    await assert.rejects(ask(remote, [listContainers(labels)]), failsWith('docker_missing'));
  });
}
