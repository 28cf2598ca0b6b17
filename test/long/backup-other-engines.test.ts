import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { gzipSync, zstdDecompressSync } from 'node:zlib';
import { ask } from '../../src/adapters/docker/ask.ts';
import { startContainer } from '../../src/adapters/docker/containers.ts';
import { createVolume } from '../../src/adapters/docker/volumes.ts';
import type {
  DataSource,
  Dump,
  Engine,
  ServerFile,
  ServiceSource,
} from '../../src/areas/backups/engines/engine.ts';
import { engines } from '../../src/areas/backups/engines/engines.ts';
import { serverTools } from '../../src/areas/backups/engines/server-tools.ts';
import { imageOf, kinds } from '../../src/areas/services/kinds/kinds.ts';
import { createCalls, type DockerHost } from '../../src/engine/docker-host.ts';
import { appVolume, serviceContainer, serviceVolume } from '../../src/engine/placement.ts';
import {
  type EnvironmentId,
  newId,
  type OperationId,
  type ServerId,
  type ServiceId,
  type WorkspaceId,
} from '../../src/ids.ts';
import { Secret } from '../../src/secret.ts';
import { labCapacity, openLab, type TestServer } from '../support/lab.ts';
import { connect, failsWith } from '../support/remote.ts';

const lab = await openLab();
const quiet = { log: () => undefined, fraction: () => undefined };
const names = { staging: 'staging_1', previous: 'previous_1' };
const back = { staging: names.previous, previous: names.staging };
const restored = { staging: names.staging, base: 'empty', content: 'dump' } as const;

interface Scene {
  readonly server: TestServer;
  readonly site: DockerHost;
}

async function siteOn(t: TestContext): Promise<Scene> {
  const server = await lab.server(t, 's1');
  const placement = {
    workspaceId: newId<WorkspaceId>(),
    environmentId: newId<EnvironmentId>(),
    serverId: newId<ServerId>(),
    clusterId: null,
    port: 20_001,
    network: 1,
  };
  const fence = { scope: newId<OperationId>(), epoch: 1 };
  return {
    server,
    site: { placement, remote: connect(t, server), capacity: labCapacity, fence, signal: t.signal },
  };
}

async function put({ remote }: DockerHost, content: Buffer, name: string): Promise<ServerFile> {
  const folder = '/var/lib/slipway/backups/trial';
  await remote.output(['mkdir', '-p', folder]);
  await remote.writeFile(`${folder}/${name}`, content, { mode: 0o600 });
  return { path: `${folder}/${name}`, bytes: content.length };
}

async function whole(dump: Dump): Promise<{ bytes: Buffer } & Awaited<Dump['ended']>> {
  const bytes = await buffer(dump.content);
  return { bytes, ...(await dump.ended) };
}

/** Containers, volumes and units of verifications and loads, folders next to a volume, and what was unpacked. */
function leftovers(server: TestServer): Promise<string> {
  return server.ssh(`docker ps -aq --filter label=slipway.mark; docker volume ls -q --filter label=slipway.mark
    ls /var/lib/slipway/units 2>/dev/null | grep -E 'verify|load' || true
    ls -d /var/lib/docker/volumes/*/slipway-* /var/lib/slipway/backups/*/*.plain 2>/dev/null || true`);
}

/** Read a little of, then left alone: it ends, and so does all that it had started. */
async function endsWhenLeft(
  server: TestServer,
  engine: Engine,
  site: DockerHost,
  source: DataSource,
  tools: string,
) {
  const running = `cat /proc/[0-9]*/comm 2>/dev/null | grep -cxE '${tools}'`;
  const dump = await engine.dump(site, source);
  await new Promise((resolve) => dump.content.once('data', resolve));
  dump.content.pause();
  assert.notEqual((await server.trySsh(running)).stdout.trim(), '0', 'it runs while it is not read');
  dump.content.destroy();
  await assert.rejects(dump.ended);
  await server.ssh(`n=100; while ${running} >&2; do n=$((n - 1)); [ $n -gt 0 ] || exit 1; sleep 0.1; done`);
}

const awkwardKeys = String.raw`
SET plain text
SET "bin\x00\xff\r\n key" "va\x00lue\xfe"
SET größe "Grüße 😀"
SET counted 12345
SET soon x PX 4000
SET later y EX 86400
HSET hash a 1 b 2 "\x00" 3
HSET fields a 1 b 2
HPEXPIRE fields 86400000 FIELDS 1 a
RPUSH list one two three
SADD numbers 1 2 3
SADD words a b c
ZADD sorted 1.5 a -inf b 3e10 c
XADD stream 1-1 field value
XADD stream 2-1 field value2
XGROUP CREATE stream readers 0
XREADGROUP GROUP readers ada COUNT 1 STREAMS stream >
PFADD log a b c
SETBIT bits 100000 1
FUNCTION LOAD "#!lua name=mine\nredis.register_function('answer', function() return 42 end)"
SELECT 3
SET plain other
SELECT 15
GEOADD places 13.361389 38.115556 Palermo
`;

/** Lua, for one database. Where an encoding has no order of its own, the fields are sorted. */
const digestScript = `
local keys = redis.call('KEYS', '*')
table.sort(keys)
local sum = ''
for _, key in ipairs(keys) do
  local value
  if redis.call('TYPE', key).ok == 'hash' then
    value = redis.call('HGETALL', key)
    table.sort(value)
    value = table.concat(value, '|')
  else
    value = redis.call('DUMP', key)
  end
  sum = redis.sha1hex(sum .. key .. '=' .. value .. redis.call('PEXPIRETIME', key))
end
return #keys .. ' ' .. sum`;

async function startRedis({ server, site }: Scene) {
  const id = newId<ServiceId>();
  const kind = kinds.redis;
  const version = kind.defaultVersion;
  const password = new Secret(randomBytes(12).toString('hex'));
  const source: ServiceSource = {
    type: 'service',
    kind: 'redis',
    version,
    image: imageOf('redis', version),
    container: serviceContainer(id),
    volume: serviceVolume(id),
    volumePath: '/data',
    memoryMb: 128,
    credentials: { password, adminPassword: password },
  };
  await server.ssh(`docker pull -q ${source.image}`);
  const wanted = {
    name: source.container,
    image: source.image,
    labels: { slipway: 'service' },
    network: 'none',
    environment: kind.environment(source.credentials),
    command: kind.command(128, version),
    memoryMb: 128,
    cpus: null,
    ...(kind.entrypoint && { entrypoint: kind.entrypoint }),
    volumes: [{ volume: source.volume, path: source.volumePath }],
    restart: 'unless-stopped',
    stopSeconds: kind.stopSeconds,
    capabilities: kind.capabilities,
  } as const;
  const making = [createVolume(source.volume, {}), ...(await createCalls(site, [wanted]))];
  await ask(site.remote, [...making, startContainer(source.container)]);
  const cli = (argv: string, input = '') =>
    server.ssh(
      `docker exec -i ${source.container} sh -c 'REDISCLI_AUTH=$REDIS_PASSWORD exec redis-cli "$@"' redis ${argv}`,
      input,
    );
  await server.ssh(
    `until docker exec ${source.container} sh -c 'REDISCLI_AUTH=$REDIS_PASSWORD redis-cli ping' 2>/dev/null | grep -q PONG; do sleep 0.1; done`,
  );
  const digest = () =>
    server.ssh(
      `docker exec -i ${source.container} sh -euc 'export REDISCLI_AUTH=$REDIS_PASSWORD; script=$(cat)
        for db in 0 3 15; do redis-cli -n $db EVAL "$script" 0; done; redis-cli FCALL answer 0'`,
      digestScript,
    );
  return { source, cli, digest };
}

test('backups of Redis and of volumes hold what they promise', async (t) => {
  const scene = await siteOn(t);
  // Installed now, or some of the keys would not live to see the dump.
  await serverTools(scene.site);
  await t.test(
    'Redis: a dump is proven by loading it, brings every key back, can be taken back, and ends when nobody reads it',
    () => redisWorks(scene),
  );
  await t.test(
    'a volume: a dump is proven by unpacking it, brings every file back, can be taken back, and ends when nobody reads it',
    () => volumeWorks(scene),
  );
});

async function redisWorks({ server, site }: Scene) {
  const { source, cli, digest } = await startRedis({ server, site });
  const engine = engines.redis;
  // It waits five seconds for more replicas otherwise.
  const atOnce = 'CONFIG SET repl-diskless-sync-delay 0';
  await cli(atOnce);
  assert.doesNotMatch(await cli('', awkwardKeys), /ERR|NOGROUP/);

  const dump = await whole(await engine.dump(site, source));
  const { contentStats, rawBytes, warning } = dump;
  const rdb = zstdDecompressSync(dump.bytes);
  assert.equal(rdb.length, rawBytes);
  assert.equal(rdb.subarray(0, 5).toString(), 'REDIS');
  assert.equal(rdb.at(-9), 0xff, 'nothing is behind the end of the snapshot');
  const checksum = rdb.subarray(-8).toString('hex');
  const expected = {
    keys: 17,
    'keys with a time to live': 2,
    databases: '0 3 15',
    'checksum of the snapshot': checksum,
  };
  assert.deepEqual([contentStats, warning], [expected, null]);

  await server.ssh(
    `until [ "$(docker exec ${source.container} sh -c 'REDISCLI_AUTH=$REDIS_PASSWORD redis-cli EXISTS soon')" = 0 ]; do sleep 0.1; done`,
  );
  const before = await digest();
  const file = await put(site, dump.bytes, 'redis');
  const tried = await engine.verifyRestore(site, source, file, 'mark1', quiet);
  assert.deepEqual(tried, { outcome: 'restored', contentStats }, 'also what has expired since is there');
  assert.equal(await leftovers(server), '');

  await cli('', 'FLUSHALL\nFUNCTION FLUSH\nSET newer 1\n');
  await engine.loadStaging(site, source, file, restored, quiet);
  await engine.loadStaging(site, source, file, restored, quiet);
  assert.equal((await cli('DBSIZE')).trim(), '1', 'what is live is not touched by a load');
  await engine.swap(site, source, names);
  assert.equal(await digest(), before);
  await cli('SET written after');
  await engine.swap(site, source, names);
  assert.equal((await cli('GET written')).trim(), 'after', 'a swap that is done is not done again');
  await engine.swap(site, source, back);
  assert.equal((await cli('GET newer')).trim(), '1', 'taken back');
  await engine.swap(site, source, names);
  await engine.discard(site, source, names.previous);
  await engine.discard(site, source, names.previous);
  await cli('DEL written');
  assert.equal(await digest(), before);
  assert.equal(await leftovers(server), '');

  const upload = { staging: 'staging_2', base: 'copy', content: 'upload', mostBytes: 1e9 } as const;
  const loads = async (content: Buffer, name: string) =>
    engine.loadStaging(site, source, await put(site, content, name), upload, quiet);
  await loads(gzipSync(Buffer.concat([rdb, Buffer.from('trailing')])), 'packed');
  await engine.swap(site, source, { staging: 'staging_2', previous: 'previous_2' });
  assert.equal(await digest(), before, 'what is behind the end of an upload is not read');
  await engine.discard(site, source, 'previous_2');
  await assert.rejects(loads(Buffer.from('SET a b\n'), 'text'), failsWith('import_format_unknown'));
  await assert.rejects(loads(rdb.subarray(0, -20), 'cut'), failsWith('import_failed'));
  const damaged = Buffer.from(rdb);
  damaged[damaged.length - 30] = (damaged.at(-30) ?? 0) ^ 1;
  const wrong = await engine.verifyRestore(site, source, await put(site, damaged, 'damaged'), 'mark2', quiet);
  assert.equal(wrong.outcome, 'corrupt');
  assert.equal(await leftovers(server), '');

  for (const each of [1, 2, 3]) await cli(`-x SET big${each}`, randomBytes(9_000_000).toString('base64'));
  await cli(atOnce);
  await endsWhenLeft(server, engine, site, source, 'redis-cli|redis-check-rdb|tee|zstd');
  await server.ssh(`docker stop -t 30 ${source.container}`);
  const down = await engine.dump(site, source);
  down.content.resume().on('error', () => undefined);
  await assert.rejects(down.ended, failsWith('database_down'));
}

/** `$1` the folder. */
const awkwardFiles = `
import os, sys
os.chdir(sys.argv[1])
def write(name, content=b'x', mode=0o644, owner=(0, 0)):
    with open(name, 'wb') as f: f.write(content)
    os.chown(name, *owner); os.chmod(name, mode)
write('new\\nline'); write('-rf'); write('  blanks '); write('größe 😀', 'Grüße'.encode(), 0o4751, (1234, 5678))
write(b'not \\xff utf8'); write('quote\\'s "$(id)"'); write('empty', b''); write('far', b'1', 0o600, (70000, 3000000))
os.makedirs('a/' + 'long' * 40 + '/' + 'name' * 50); write('a/' + 'long' * 40 + '/' + 'name' * 50 + '/' + 'file' * 50)
os.mkdir('empty folder'); os.chmod('empty folder', 0o1777); os.chown('empty folder', 33, 33)
os.symlink('../../../../etc/passwd', 'out'); os.symlink('nowhere', 'dangling'); os.link('-rf', 'a/hard')
with open('sparse', 'wb') as f: f.seek(40_000_000); f.write(b'end')
os.setxattr('empty', 'user.note', b'bin\\x00\\n=x'); os.mkfifo('pipe', 0o640)
write('random', os.urandom(30_000_000)); os.utime('random', ns=(1, 1_000_000_000_123_456_789)); os.utime('a', (1, 2))
os.chmod('.', 0o2750); os.chown('.', 999, 998); os.utime('.', ns=(5, 1_234_567_890_000_000_001))
`;

/** By other means than tar: what a person would look at. */
const listing = `
import os, sys, hashlib
os.chdir(sys.argv[1])
inodes = {}
for folder, folders, files in sorted(os.walk(b'.')):
    for name in [b''] + sorted(files) + sorted(f for f in folders if os.path.islink(os.path.join(folder, f))):
        path = os.path.join(folder, name); s = os.lstat(path)
        link = os.readlink(path) if os.path.islink(path) else b''
        first = inodes.setdefault(s.st_ino, path)
        content = hashlib.sha256(open(path, 'rb').read()).hexdigest() if os.path.isfile(path) and not link else ''
        attributes = [(a, os.getxattr(path, a, follow_symlinks=False)) for a in sorted(os.listxattr(path, follow_symlinks=False))]
        print(path, oct(s.st_mode), s.st_uid, s.st_gid, s.st_mtime_ns, link, first, content, attributes)
`;

async function volumeWorks({ server, site }: Scene) {
  const engine = engines.volume;
  const volume = appVolume(site.placement, 'data');
  const source: DataSource = { type: 'volume', kind: 'volume', volume };
  await ask(site.remote, [createVolume(volume, {})]);
  const folder = `/var/lib/docker/volumes/${volume}/_data`;
  await server.ssh(`python3 - ${folder}`, awkwardFiles);
  const list = () => server.ssh(`python3 - ${folder}`, listing);
  const before = await list();

  const dump = await whole(await engine.dump(site, source));
  const { contentStats, warning } = dump;
  assert.equal(warning, null);
  const { files, folders, bytes } = contentStats;
  assert.deepEqual(
    [files, folders, contentStats['symbolic links'], contentStats['hard links']],
    [11, 5, 2, 1],
  );
  assert.ok(Number(bytes) > 70_000_000, String(bytes));
  assert.ok(dump.rawBytes < 31_000_000, 'holes take no room');
  const file = await put(site, dump.bytes, 'volume');
  const tried = await engine.verifyRestore(site, source, file, 'mark1', quiet);
  assert.deepEqual(tried, { outcome: 'restored', contentStats });
  assert.equal(await leftovers(server), '');

  await server.ssh(`rm -rf ${folder}/a ${folder}/empty; echo new > ${folder}/newer; chmod 700 ${folder}`);
  const damaged = await list();
  await engine.loadStaging(site, source, file, restored, quiet);
  await engine.loadStaging(site, source, file, restored, quiet);
  assert.equal(await list(), damaged, 'what is live is not touched by a load');
  await server.ssh(`docker run -d --name user -v ${volume}:/data debian:trixie-slim sleep 1000`);
  await assert.rejects(engine.swap(site, source, names), failsWith('in_use'));
  await server.ssh('docker rm -f user');
  await engine.swap(site, source, back);
  assert.equal(await list(), damaged, 'taken back before it was done');
  await server.ssh(`mv ${folder} ${folder.replace(/_data$/, `slipway-${names.previous}`)}`);
  await engine.swap(site, source, names);
  assert.equal(await list(), before, 'a swap that was killed between its renames is completed');
  await engine.swap(site, source, names);
  assert.equal(await list(), before);
  assert.deepEqual((await whole(await engine.dump(site, source))).contentStats, contentStats);
  await engine.swap(site, source, back);
  assert.equal(await list(), damaged, 'taken back');
  await engine.swap(site, source, names);
  await engine.discard(site, source, names.previous);
  await engine.discard(site, source, names.previous);
  assert.equal(await list(), before);
  assert.equal(await leftovers(server), '');

  const cut = await put(site, dump.bytes.subarray(0, -1_000), 'cut');
  assert.equal((await engine.verifyRestore(site, source, cut, 'mark2', quiet)).outcome, 'corrupt');
  await assert.rejects(engine.loadStaging(site, source, cut, restored, quiet), failsWith('restore_failed'));
  assert.equal(await leftovers(server), '');

  await endsWhenLeft(server, engine, site, source, 'tar|perl|sha256sum|zstd');
  // What nobody reads stands still in the middle of the largest file.
  const changing = await engine.dump(site, source);
  await new Promise((resolve) => changing.content.once('data', resolve));
  changing.content.pause();
  await server.ssh(`echo more >> ${folder}/random`);
  changing.content.resume();
  const { warning: told } = await changing.ended;
  assert.match(told ?? '', /changed while they were read/);
}
