/**
 * The engine of an application's volume: its folder as a tar archive. The application is not paused, so each file is as
 * it was when it was read; where one changed meanwhile, the dump says so. Compared is everything that a file system
 * keeps: names, owners, modes, times, attributes and contents.
 */
import { volumeFolder } from '../../../../engine/data-host.ts';
import { Fault } from '../../../../fault.ts';
import { diskFull } from '../database-engine.ts';
import { dumpOf } from '../dump.ts';
import type { Engine } from '../engine.ts';
import { detectCompression } from '../file-scripts.ts';
import { notRestored, runUnit, type UnitEnd, unitOf } from '../run-unit.ts';
import { createScratchVolume, inScratch, removeScratch, requireSpace } from '../scratch.ts';
import { readablePath, removeUnpacked } from '../server-tools.ts';
import { tarFunctions } from './tar-scripts.ts';
import { copyFolder, partialFolder, removeCopy, swapFolders } from './volume-folders.ts';

/** A file of holes takes no space, but to read it takes its time: an application could keep the backups of a server busy for days. */
const mostApparentBytes = 4 * 1024 ** 4;

/** `$1` the folder. Tar's 1 means that files changed or went while they were read. */
const volumeDumpScript = `set -u
${tarFunctions}
apparent=$({ du -sx --apparent-size --block-size=1 -- "$1" 2>/dev/null || :; } | cut -f 1)
if [ "\${#apparent}" -gt 18 ] || [ "\${apparent:-0}" -gt ${mostApparentBytes} ]; then
  echo "the files of the volume say that they are $apparent bytes long, and ${mostApparentBytes} can be read" >&2
  exit 1
fi
pack "$1" | stats pass 3>&2
codes=("\${PIPESTATUS[@]}")
if [ "\${codes[1]}" != 0 ]; then exit 1; fi
case \${codes[0]} in
  0) ;;
  1) echo '@warning Files changed while they were read; those may be half old and half new.' >&2 ;;
  *) exit 1 ;;
esac
`;

/** `$1` the file, `$2` an empty folder. What is read again has to be on the disk: until then it may show no holes. */
const volumeVerifyScript = `${tarFunctions}${detectCompression}
detect_compression "$1"
reading "$1"
"\${unpack[@]}" <&8 | extract "$2"
read_done
sync -f -- "$2"
pack "$2" | stats count 3>&1
`;

/** `$1` the file, `$2` the partial folder, `$3` what it is called when it is whole. */
const volumeLoadScript = `${tarFunctions}${detectCompression}
if [ -d "$3" ]; then exit 0; fi
rm -rf --one-file-system -- "$2"
mkdir -- "$2"
detect_compression "$1"
reading "$1"
"\${unpack[@]}" <&8 | extract "$2"
read_done
sync -f -- "$2"
mv -T -- "$2" "$3"
sync -- "\${3%/*}"
`;

export const volumeEngine: Engine = {
  format: 'tar',
  swap: (host, source, names) => swapFolders(host, source.volume, names),
  dump: async (host, source) =>
    dumpOf(host, 'tar', [
      'bash',
      '-c',
      volumeDumpScript,
      'slipway-volume',
      await volumeFolder(host, source.volume),
    ]),
  discard: async (host, source, name) => {
    await removeScratch(host, name);
    await removeCopy(host, source.volume, name);
  },
  verifyRestore: (host, { volume }, file, scratchId, progress) =>
    inScratch(host, { volume, memoryMb: 0 }, file, scratchId, async (path) => {
      const folder = await volumeFolder(host, await createScratchVolume(host, scratchId));
      const script = { script: volumeVerifyScript, args: [path, folder] };
      const filled = { folder, mostBytes: null };
      const end = await runUnit(host, unitOf('verify', scratchId), script, filled, file, progress);
      if (end.isDone) return { outcome: 'restored', contentStats: end.contentStats };
      return notRestored('It could not be unpacked', end);
    }),
  loadStaging: async (host, source, file, { staging, content }, progress) => {
    if (content === 'upload')
      throw new Fault('import_format_unknown', 'Nothing can be imported into the volume of an application.');
    await requireSpace(host, source, { fileBytes: file.bytes, memoryMb: 0 });
    const folder = await volumeFolder(host, source.volume);
    const path = await readablePath(host, file);
    const partial = partialFolder(folder, staging);
    const args = [path, partial, copyFolder(folder, staging)];
    const end = await runUnit(
      host,
      unitOf('load', staging),
      { script: volumeLoadScript, args },
      { folder: partial, mostBytes: null },
      file,
      progress,
    );
    await removeUnpacked(host, file);
    if (end.isDone) return;
    await removeCopy(host, source.volume, staging);
    throw notUnpacked(end);
  },
};

export function notUnpacked({ evidence, overrun }: Extract<UnitEnd, { isDone: false }>): Fault {
  return (
    overrun ??
    diskFull(evidence) ??
    new Fault('restore_failed', 'The backup could not be unpacked; the data is unchanged.', { evidence })
  );
}
