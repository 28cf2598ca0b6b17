/**
 * The engine of Redis. A dump is one snapshot, as Redis makes it for a replica. What is restored is a data folder of its
 * own with the snapshot as the base of its append-only files; it is swapped with the live one while Redis is stopped.
 */

import { minute } from '../../../../clock.ts';
import { volumeFolder, whileStopped } from '../../../../engine/data-host.ts';
import type { DockerHost } from '../../../../engine/docker-host.ts';
import { Fault } from '../../../../fault.ts';
import { kinds } from '../../../services/kinds/kinds.ts';
import { diskFull, requireKind, unknownFormat, waitUntilReady } from '../database-engine.ts';
import { dumpOf, inContainer } from '../dump.ts';
import type { ContentStats, DataSource, Engine } from '../engine.ts';
import { notRestored, runUnit, type UnitEnd, unitOf } from '../run-unit.ts';
import {
  createScratchVolume,
  inScratch,
  mostFilled,
  removeScratch,
  requireSpace,
  scratchOf,
  startScratch,
} from '../scratch.ts';
import { readablePath, removeUnpacked } from '../server-tools.ts';
import { swapped } from '../swap-volumes.ts';
import { notUnpacked } from '../volume/volume.ts';
import { copyFolder, partialFolder, removeCopy, swapFolders } from '../volume/volume-folders.ts';
import {
  keyspaceScript,
  placeScript,
  redisDumpScript,
  redisLoadScript,
  redisReadyScript,
  withoutEofMark,
} from './redis-scripts.ts';

/**
 * As a replica of nobody it keeps keys whose time is over, which a master drops when it loads: what came out is
 * comparable with what went in, however long ago that was.
 */
const options = ['--appendonly', 'no', '--save', '', '--replicaof', '127.0.0.1', '1'];
/** Loading takes its time; the scripts give up before. */
const loadTimeoutMs = 15 * minute;

export const redisEngine: Engine = {
  format: 'rdb',
  dump: (host, source) => {
    const dump = inContainer(requireKind(source, 'redis').container, redisDumpScript);
    return dumpOf(host, 'redis-cli', ['bash', '-c', withoutEofMark, 'slipway-redis', ...dump]);
  },
  verifyRestore: (host, source, file, scratchId, progress) => {
    const redis = requireKind(source, 'redis');
    // All of its data is in memory: with less than the service has, it could not be loaded.
    const { memoryMb } = redis;
    return inScratch(host, redis, file, scratchId, async (path) => {
      try {
        const folder = await volumeFolder(host, await createScratchVolume(host, scratchId));
        const script = { script: placeScript, args: [path, folder] };
        const filled = { folder, mostBytes: null };
        const end = await runUnit(host, unitOf('verify', scratchId), script, filled, file, progress);
        if (!end.isDone) return notRestored('It could not be unpacked', end);
        const scratch = { ...scratchOf(scratchId), options, memoryMb };
        await startScratch(host, redis, scratch);
        const contentStats = { ...end.contentStats, ...(await keyspaceOf(host, scratch.name)) };
        return { outcome: 'restored', contentStats };
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== 'remote_failed' || error.evidence === undefined)
          throw error;
        return notRestored('It could not be loaded', { evidence: error.evidence, overrun: null });
      }
    });
  },
  loadStaging: async (host, source, file, input, progress) => {
    const { staging, content } = input;
    const { volume, image, memoryMb } = requireKind(source, 'redis');
    const used = await requireSpace(host, source, { fileBytes: file.bytes, memoryMb: 0 });
    const folder = await volumeFolder(host, volume);
    const path = await readablePath(host, file);
    const partial = partialFolder(folder, staging);
    const args = [path, partial, copyFolder(folder, staging), folder, image, staging, String(memoryMb)];
    if (content === 'upload') progress.log('A snapshot of Redis replaces all of the live data.');
    const end = await runUnit(
      host,
      unitOf('load', staging),
      { script: redisLoadScript, args },
      { folder: partial, mostBytes: mostFilled(input, used) },
      file,
      progress,
    );
    await removeUnpacked(host, file);
    if (end.isDone) return;
    await discard(host, source, staging);
    throw content === 'upload' ? notImported(end) : notUnpacked(end);
  },
  swap: async (host, source, names) => {
    const { container, volume } = requireKind(source, 'redis');
    const stopped = { name: container, stopSeconds: kinds.redis.stopSeconds };
    await swapped(whileStopped(host, stopped, () => swapFolders(host, volume, names)));
    await waitUntilReady(host, { script: redisReadyScript, args: [container] });
  },
  discard,
};

async function discard(host: DockerHost, source: DataSource, name: string): Promise<void> {
  await removeScratch(host, name);
  await removeCopy(host, source.volume, name);
}

/** `db0:keys=3,expires=1,avg_ttl=0`, and more fields in newer versions. */
async function keyspaceOf({ remote, signal }: DockerHost, container: string): Promise<ContentStats> {
  const output = await remote.script(keyspaceScript, [container], { timeoutMs: loadTimeoutMs, signal });
  const found = [...output.toString('latin1').matchAll(/^db(\d+):keys=(\d+),expires=(\d+)/gm)];
  const sum = (field: number) => found.reduce((total, each) => total + Number(each[field]), 0);
  const databases = found.map((each) => Number(each[1])).sort((a, b) => a - b);
  return { keys: sum(2), 'keys with a time to live': sum(3), databases: databases.join(' ') };
}

function notImported({ refused, evidence, overrun }: Extract<UnitEnd, { isDone: false }>): Fault {
  if (overrun) return overrun;
  if (refused !== null)
    return unknownFormat(refused, 'Redis takes a snapshot (an RDB file), also packed by gzip or zstd.');
  return (
    diskFull(evidence) ??
    new Fault('import_failed', 'The snapshot cannot be read by this Redis; the data is unchanged.', {
      evidence,
    })
  );
}
