/**
 * The engine of an application's volume: its folder as a tar archive. An application is not asked to hold still, so
 * each file is as it was when it was read; where one changed meanwhile, the dump says so. Compared is everything that a
 * file system keeps: names, owners, modes, times, attributes and contents.
 */
import { ask } from '../../../adapters/docker/docker.ts';
import { createVolume } from '../../../adapters/docker/volumes.ts';
import type { DockerHost } from '../../../engine/docker-host.ts';
import { labelsOf } from '../../../engine/placement.ts';
import { Fault } from '../../../fault.ts';
import type { Engine, Source } from './engine.ts';
import { dumpOf } from './run-in-container.ts';
import { readableThere, removePlain, serverTools } from './server-tools.ts';
import { markLabel, noRoomFor, removeMarked, unitOf } from './throw-away.ts';
import { notLoadedVerdict, runUnit } from './throw-away-unit.ts';
import { besideOf, exchangeFolders, folderOf, removeBeside, unfinishedOf } from './volume-folders.ts';
import { tarFunctions } from './volume-tar.ts';
import { unpacked } from './volume-unpack.ts';

/** `$1` the folder. Tar's 1 means that files changed or went while they were read. */
const dumpScript = `set -u
${tarFunctions}
pack "$1" | figures pass 3>&2
codes=("\${PIPESTATUS[@]}")
if [ "\${codes[1]}" != 0 ]; then exit 1; fi
case \${codes[0]} in
  0) ;;
  1) echo '@warning Files changed while they were read; those may be half old and half new.' >&2 ;;
  *) exit 1 ;;
esac
`;

/** `$1` the file, `$2` an empty folder. What is read again has to be on the disk: until then it may show no holes. */
const tryScript = `${tarFunctions}${unpacked}
unpacked "$1"
reading "$1"
"\${unpack_by[@]}" <&8 | unpack "$2"
read_on
sync -f -- "$2"
pack "$2" | figures count 3>&1
`;

/** `$1` the file, `$2` where it is filled, `$3` what it is called then. */
const loadScript = `${tarFunctions}${unpacked}
if [ -d "$3" ]; then exit 0; fi
rm -rf --one-file-system -- "$2"
mkdir -- "$2"
unpacked "$1"
reading "$1"
"\${unpack_by[@]}" <&8 | unpack "$2"
read_on
sync -f -- "$2"
mv -T -- "$2" "$3"
sync -- "\${3%/*}"
`;

export const volumeEngine: Engine = {
  kind: 'volume',
  format: 'tar',
  clearAway: removeMarked,
  swap: (site, source, names) => exchangeFolders(site, source.volume, names),
  dump: async (site, source) => {
    const argv = ['bash', '-c', dumpScript, 'slipway-volume', await folderOf(site, source.volume)];
    return dumpOf(site, { argv, tool: 'tar', tools: await serverTools(site) });
  },
  discard: async (site, source, name) => {
    await removeMarked(site, name);
    await removeBeside(site, source.volume, name);
  },
  tryOut: async (site, source, file, mark, progress) => {
    const reason = await noRoomFor(site, { volume: source.volume, fileBytes: file.bytes, memoryMb: 0 });
    if (reason !== null) return { outcome: 'untried', reason };
    try {
      const path = await readableThere(site, file, await serverTools(site));
      const folder = await emptyVolume(site, mark);
      const work = { unit: unitOf('try', mark), script: tryScript, args: [path, folder], bytes: file.bytes };
      const end = await runUnit(site, work, progress);
      if (end.isDone) return { outcome: 'loaded', figures: end.figures };
      return notLoadedVerdict('It could not be unpacked', end.evidence);
    } finally {
      await removeMarked(site, mark);
      await removePlain(site, file);
    }
  },
  loadBeside: async (site, source, file, { beside, content }, progress) => {
    if (content === 'upload')
      throw new Fault('import_format_unknown', 'Nothing can be imported into the volume of an application.');
    await mustHaveRoom(site, source, file.bytes);
    const folder = await folderOf(site, source.volume);
    const path = await readableThere(site, file, await serverTools(site));
    const args = [path, unfinishedOf(folder, beside), besideOf(folder, beside)];
    const work = { unit: unitOf('load', beside), script: loadScript, args, bytes: file.bytes };
    const end = await runUnit(site, work, progress);
    await removePlain(site, file);
    if (end.isDone) return;
    await removeBeside(site, source.volume, beside);
    throw notLoaded(end.evidence);
  },
};

/** With the mark, so that it is found and removed by it. */
export async function emptyVolume(site: DockerHost, mark: string): Promise<string> {
  const { remote, fence, signal, placement } = site;
  const name = `slipway-try-${mark}`;
  const labels = { ...labelsOf(placement, 'volume'), slipway: 'throw-away', [markLabel]: mark };
  await ask(remote, [createVolume(name, labels)], { fence, signal });
  return folderOf(site, name);
}

export async function mustHaveRoom(site: DockerHost, source: Source, fileBytes: number): Promise<void> {
  const reason = await noRoomFor(site, { volume: source.volume, fileBytes, memoryMb: 0 });
  if (reason !== null)
    throw new Fault('disk_full', reason, { hint: 'Make room on the server, then try again.' });
}

export function notLoaded(evidence: string): Fault {
  if (/No space left on device/i.test(evidence))
    return new Fault('disk_full', 'The disk of the server is full; the data is as it was before.', {
      evidence,
    });
  return new Fault('restore_failed', 'The backup could not be unpacked; the data is as it was before.', {
    evidence,
  });
}
