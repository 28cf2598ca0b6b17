/**
 * The engine of Redis. A dump is one snapshot, as Redis makes it for a replica. What is restored is a data folder of its
 * own with the snapshot as the base of its append-only files; it takes the place of the live one while Redis is stopped.
 */
import { startContainer, stopContainer } from '../../../adapters/docker/containers.ts';
import { ask } from '../../../adapters/docker/docker.ts';
import type { DockerHost } from '../../../engine/docker-host.ts';
import { Fault } from '../../../fault.ts';
import { kinds } from '../../services/kinds/kinds.ts';
import type { Engine, Figures, Source } from './engine.ts';
import {
  dumpScript,
  keyspaceScript,
  loadScript,
  placeScript,
  readyScript,
  withoutMark,
} from './redis-scripts.ts';
import { dumpOf, inContainer } from './run-in-container.ts';
import { readableThere, removePlain, serverTools } from './server-tools.ts';
import {
  noRoomFor,
  removeMarked,
  type ServiceSource,
  startThrowAway,
  throwAwayOf,
  unitOf,
} from './throw-away.ts';
import { notLoadedVerdict, runUnit, type UnitEnd } from './throw-away-unit.ts';
import { emptyVolume, mustHaveRoom, notLoaded } from './volume.ts';
import { besideOf, exchangeFolders, folderOf, removeBeside, unfinishedOf } from './volume-folders.ts';

/**
 * As a replica of nobody it keeps keys whose time is over, which a master drops when it loads: what came out is
 * comparable with what went in, however long ago that was.
 */
const asFound = ['--appendonly', 'no', '--save', '', '--replicaof', '127.0.0.1', '1'];
/** Loading takes its time; the scripts give up before. */
const loadWithinMs = 15 * 60_000;

export const redisEngine: Engine = {
  kind: 'redis',
  format: 'rdb',
  clearAway: removeMarked,
  dump: async (site, source) => {
    const argv = [
      'bash',
      '-c',
      withoutMark,
      'slipway-redis',
      ...inContainer(ours(source).container, dumpScript),
    ];
    return dumpOf(site, { argv, tool: 'redis-cli', tools: await serverTools(site) });
  },
  tryOut: async (site, source, file, mark, progress) => {
    const redis = ours(source);
    const { volume, memoryMb } = redis;
    const reason = await noRoomFor(site, { volume, fileBytes: file.bytes, memoryMb });
    if (reason !== null) return { outcome: 'untried', reason };
    try {
      const path = await readableThere(site, file, await serverTools(site));
      const folder = await emptyVolume(site, mark);
      const work = {
        unit: unitOf('try', mark),
        script: placeScript,
        args: [path, folder],
        bytes: file.bytes,
      };
      const end = await runUnit(site, work, progress);
      if (!end.isDone) return notLoadedVerdict('It could not be unpacked', end.evidence);
      // All of its data is in memory: with less than the service has, it could not be loaded.
      await startThrowAway(site, redis, { ...throwAwayOf(mark), options: asFound, memoryMb });
      return {
        outcome: 'loaded',
        figures: { ...end.figures, ...(await keyspaceOf(site, throwAwayOf(mark).name)) },
      };
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'remote_failed' || error.evidence === undefined)
        throw error;
      return notLoadedVerdict('It could not be loaded', error.evidence);
    } finally {
      await removeMarked(site, mark);
      await removePlain(site, file);
    }
  },
  loadBeside: async (site, source, file, { beside, content }, progress) => {
    const { volume, image, memoryMb } = ours(source);
    await mustHaveRoom(site, source, file.bytes);
    const folder = await folderOf(site, volume);
    const path = await readableThere(site, file, await serverTools(site));
    const folders = [unfinishedOf(folder, beside), besideOf(folder, beside), folder];
    const args = [path, ...folders, image, beside, String(memoryMb)];
    if (content === 'upload') progress.log('A snapshot of Redis is everything: it replaces what is there.');
    const work = { unit: unitOf('load', beside), script: loadScript, args, bytes: file.bytes };
    const end = await runUnit(site, work, progress);
    await removePlain(site, file);
    if (end.isDone) return;
    await discard(site, source, beside);
    throw content === 'upload' ? notImported(end) : notLoaded(end.evidence);
  },
  swap: async (site, source, names) => {
    const { container, volume } = ours(source);
    const { remote, fence, signal } = site;
    await ask(remote, [stopContainer(container, kinds.redis.stopSeconds)], { fence, signal });
    try {
      await exchangeFolders(site, volume, names);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'remote_failed') throw error;
      await ask(remote, [startContainer(container)], { fence });
      throw new Fault('restore_failed', 'The data could not change places; what was live is live.', {
        evidence: error.evidence ?? '',
        cause: error,
      });
    }
    await ask(remote, [startContainer(container)], { fence });
    await untilReady(site, container);
  },
  discard,
};

async function discard(site: DockerHost, source: Source, name: string): Promise<void> {
  await removeMarked(site, name);
  await removeBeside(site, source.volume, name);
}

async function untilReady({ remote, signal }: DockerHost, container: string): Promise<void> {
  try {
    await remote.script(readyScript, [container], { timeoutMs: loadWithinMs, signal });
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'remote_failed') throw error;
    throw new Fault('database_down', 'Redis does not start with the data that is live now.', {
      evidence: error.evidence ?? '',
      cause: error,
    });
  }
}

/** `db0:keys=3,expires=1,avg_ttl=0`, and more fields in newer versions. */
async function keyspaceOf({ remote, signal }: DockerHost, container: string): Promise<Figures> {
  const said = await remote.script(keyspaceScript, [container], { timeoutMs: loadWithinMs, signal });
  const found = [...said.toString('latin1').matchAll(/^db(\d+):keys=(\d+),expires=(\d+)/gm)];
  const sum = (field: number) => found.reduce((total, each) => total + Number(each[field]), 0);
  const databases = found.map((each) => Number(each[1])).sort((a, b) => a - b);
  return { keys: sum(2), 'keys with a time to live': sum(3), databases: databases.join(' ') };
}

function notImported({ refused, evidence }: Extract<UnitEnd, { isDone: false }>): Fault {
  if (refused !== null)
    return new Fault('import_format_unknown', `The file cannot be imported: it is ${refused}.`, {
      hint: 'Redis takes a snapshot (an RDB file), also packed by gzip or zstd.',
      evidence: refused,
    });
  if (/No space left on device/i.test(evidence)) return notLoaded(evidence);
  return new Fault(
    'import_failed',
    'The snapshot cannot be read by this Redis; the data is as it was before.',
    {
      evidence,
    },
  );
}

function ours(source: Source): ServiceSource {
  if (source.type === 'service' && source.kind === 'redis') return source;
  throw new Fault('internal_error', 'The engine of Redis was asked about something else.');
}
