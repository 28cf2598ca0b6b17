/**
 * The disk of a server that is ready from its first moment. It is made once, by the code that makes every server
 * ready, and kept in the cache; it is made anew when that code, the packages below it or an image on it have changed.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serverResolver } from '../../src/adapters/egress/server-networks.ts';
import { ensureProxy } from '../../src/adapters/proxy/proxy.ts';
import { ensureSettings } from '../../src/areas/servers/provision.ts';
import { newId, type ServerId } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import { createRemotePool } from '../../src/remote/pool.ts';
import { fingerprintOf } from '../../src/remote/ssh/host-keys.ts';
import { Secret } from '../../src/secret.ts';
import type { Tree } from '../build/trees.ts';
import { run } from '../command.ts';
import { tagFile } from '../images/registry-files.ts';
import { cacheDir } from '../places.ts';
import type { Disk } from './disk.ts';
import type { LabServer } from './server.ts';

/** What the samples, the databases and most tests use. */
const images = ['node:24-slim', 'debian:bookworm-slim', 'postgres:17', 'redis:8', 'mariadb:11.8'];
const sources = [
  'areas/servers/provision.ts',
  'areas/servers/docker-settings.ts',
  'adapters/docker/network-rules.ts',
  'adapters/proxy/*.ts',
];
const src = fileURLToPath(new URL('../../src/', import.meta.url));

/** `boot` gives a server of the tree, which is switched off and taken apart here. */
export async function provisionedDisk(
  tree: Tree,
  keyFile: string,
  boot: () => Promise<LabServer>,
): Promise<Disk> {
  const place = join(cacheDir, 'disks', keyOf(tree));
  const disk = { folders: [join(place, 'root'), ...tree.folders], docker: join(place, 'docker') };
  if (existsSync(place)) return disk;
  const server = await boot();
  try {
    await makeReady(server, keyFile);
    const { root, docker } = await server.powerOff();
    takeIdentity(root);
    const half = join(cacheDir, 'half', keyOf(tree));
    rmSync(half, { recursive: true, force: true });
    mkdirSync(half, { recursive: true });
    mkdirSync(dirname(place), { recursive: true });
    await run('cp', ['--archive', '--reflink=auto', root, join(half, 'root')]);
    await run('cp', ['--archive', '--reflink=auto', docker, join(half, 'docker')]);
    renameSync(half, place);
  } finally {
    await server.destroy();
  }
  return disk;
}

function keyOf(tree: Tree): string {
  const hash = createHash('sha256').update(tree.key);
  for (const file of globSync(sources, { cwd: src })
    .filter((each) => !each.endsWith('.test.ts'))
    .sort())
    hash.update(readFileSync(join(src, file)));
  for (const image of ['haproxy:3.0', ...images]) hash.update(readFileSync(tagFile(image)));
  return `provisioned-${hash.digest('hex').slice(0, 12)}`;
}

async function makeReady(server: LabServer, keyFile: string): Promise<void> {
  const pool = createRemotePool(serverResolver({ allowPrivate: true, networks: [] }), createLog('silent'));
  const { signal } = new AbortController();
  const [, shown = ''] = server.hostKeys.find((each) => each.startsWith('ssh-ed25519'))?.split(' ') ?? [];
  const remote = pool.to({
    serverId: newId<ServerId>(),
    host: server.plan.address,
    port: 22,
    username: 'root',
    privateKey: new Secret(readFileSync(keyFile, 'utf8')),
    hostKey: fingerprintOf(Buffer.from(shown, 'base64')),
  });
  try {
    await ensureSettings(remote, { signal, log: () => undefined });
    await ensureProxy(remote, signal);
    for (const image of images)
      await remote.output(['docker', 'pull', '--quiet', image], { timeoutMs: 300_000 });
  } finally {
    await pool.close();
  }
}

/** Every server made of it is another one. */
function takeIdentity(root: string): void {
  for (const each of [
    'etc/hostname',
    'etc/hosts',
    'etc/resolv.conf',
    'etc/systemd/network',
    'root/.ssh',
    'var/log',
  ])
    rmSync(join(root, each), { recursive: true, force: true });
  for (const each of globSync('etc/ssh/ssh_host_*', { cwd: root })) rmSync(join(root, each));
  writeFileSync(join(root, 'etc/machine-id'), '');
}
