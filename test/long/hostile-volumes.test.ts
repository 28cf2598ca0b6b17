import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ask } from '../../src/adapters/docker/ask.ts';
import { createVolume } from '../../src/adapters/docker/volumes.ts';
import { engines } from '../../src/areas/backups/engines/engines.ts';
import { runUnit } from '../../src/areas/backups/engines/run-unit.ts';
import type { DockerHost } from '../../src/engine/docker-host.ts';
import { appVolume } from '../../src/engine/placement.ts';
import {
  type EnvironmentId,
  newId,
  type OperationId,
  type ServerId,
  type WorkspaceId,
} from '../../src/ids.ts';
import { labCapacity, openLab, type TestServer } from '../support/lab.ts';
import { connect, failsWith } from '../support/remote.ts';
import { quiet } from '../support/sql-engine-scene.ts';

const lab = await openLab();

/** A server for what needs no database. */
async function bareSite(t: TestContext): Promise<{ server: TestServer; site: DockerHost }> {
  const server = await lab.shared('docker');
  const placement = {
    workspaceId: newId<WorkspaceId>(),
    environmentId: newId<EnvironmentId>(),
    serverId: newId<ServerId>(),
    clusterId: null,
    port: 20_002,
    network: 2,
  };
  const fence = { scope: newId<OperationId>(), epoch: 1 };
  return {
    server,
    site: { placement, remote: connect(t, server), capacity: labCapacity, fence, signal: t.signal },
  };
}

test('whoever has a load fill the disk is ended by the server itself, before there is nothing left', async (t) => {
  const { site, server } = await bareSite(t);
  const folder = '/var/lib/slipway/backups/small';
  await server.ssh(`mkdir -p ${folder} && mount -t tmpfs -o size=700m slipway-small ${folder}`);
  t.after(() => server.ssh(`umount ${folder}; rmdir ${folder}`));
  const work = {
    script: 'head -c 10G /dev/zero >"$1/filled"',
    args: [folder],
    halt: 'echo "halted $1" >"$1/halted"',
  };
  const file = { path: `${folder}/none`, bytes: 1 };
  const end = await runUnit(site, 'slipway-load-small', work, { folder, mostBytes: null }, file, quiet);
  assert.ok(!end.isDone && end.overrun, JSON.stringify(end));
  assert.equal(end.overrun.code, 'disk_full');
  assert.match(end.overrun.message, /0\.5 GB must stay free/);
  assert.equal((await server.ssh(`cat ${folder}/halted`)).trim(), `halted ${folder}`);
  assert.ok(
    Number(await server.ssh(`df --output=avail -B1 ${folder} | tail -n 1`)) > 0,
    'some of it is left',
  );
});

/** One entry of an archive, as tar writes it. */
function entry(name: string, kind: string, { link = '', device = 0, data = '' } = {}): Buffer {
  const head = Buffer.alloc(512);
  const octal = (value: number, at: number, size: number) =>
    head.write(`${value.toString(8).padStart(size - 1, '0')}\0`, at);
  head.write(name, 0);
  octal(0o644, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(data.length, 124, 12);
  octal(0, 136, 12);
  head.write(' '.repeat(8), 148);
  head.write(kind, 156);
  head.write(link, 157);
  head.write('ustar\x0000', 257);
  octal(device, 329, 8);
  octal(device, 337, 8);
  octal(
    head.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return Buffer.concat([head, data === '' ? Buffer.alloc(0) : Buffer.from(data.padEnd(512, '\0'))]);
}

const evil = { data: 'evil' };
const archives = {
  device: [entry('disk', '4', { device: 7 })],
  memory: [entry('mem', '3', { device: 1 })],
  absolute: [entry('/tmp/evil-absolute', '0', evil)],
  parent: [entry('../evil-parent', '0', evil)],
  link: [entry('out', '2', { link: '/tmp' }), entry('out/evil-link', '0', evil)],
  relative: [entry('up', '2', { link: '../..' }), entry('up/evil-relative', '0', evil)],
  hard: [entry('shadow', '1', { link: '/etc/shadow' }), entry('shadow', '0', evil)],
  'hard up': [entry('passwd', '1', { link: '../../../../../../etc/passwd' }), entry('passwd', '0', evil)],
};

test('whoever restores an archive of a volume reaches nothing outside of it, and makes no device', async (t) => {
  const { site, server } = await bareSite(t);
  const volume = appVolume(site.placement, 'files');
  await ask(site.remote, [createVolume(volume, {})]);
  const source = { type: 'volume', kind: 'volume', volume } as const;
  const around = `sha256sum /etc/shadow /etc/passwd; ls -A /tmp; ls -A /var/lib/docker/volumes/${volume}; stat -c '%h %n' /etc/shadow /etc/passwd`;
  await server.ssh('mkdir -p /var/lib/slipway/backups/tars');
  const before = await server.ssh(around);
  for (const [kind, entries] of Object.entries(archives)) {
    const file = { path: `/var/lib/slipway/backups/tars/${kind}`, bytes: 2_048 };
    await site.remote.writeFile(file.path, Buffer.concat([...entries, Buffer.alloc(1_024)]), { mode: 0o600 });
    const load = { staging: 'new_1', base: 'empty', content: 'dump' } as const;
    const outcome = await engines.volume.loadStaging(site, source, file, load, quiet).catch((error) => error);
    const devices = await server.ssh(`find /var/lib/docker/volumes/${volume} -type b -o -type c`);
    assert.equal(devices, '', kind);
    // A leading slash is taken off: such a file lands inside.
    if (kind !== 'absolute') assert.ok(failsWith('restore_failed')(outcome), `${kind}: ${outcome}`);
    await engines.volume.discard(site, source, 'new_1');
    assert.equal(await server.ssh(around), before, kind);
  }
  await server.ssh(`truncate -s 5T /var/lib/docker/volumes/${volume}/_data/holes`);
  const dump = await engines.volume.dump(site, source);
  dump.content.resume().on('error', () => undefined);
  await assert.rejects(dump.ended, failsWith('dump_failed', /5497558138880|549755\d+ bytes long/));
});
