/**
 * Dumps are compressed and unpacked on the server by zstd: Debian's package, installed once where it is missing. Where it
 * cannot be, dumps are compressed by us, and files are unpacked by us before they are used.
 */
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { hour, minute } from '../../../clock.ts';
import type { DockerHost } from '../../../engine/docker-host.ts';
import { Fault } from '../../../fault.ts';
import type { ServerFile } from './engine.ts';
import { reserveBytes } from './run-unit.ts';

/** Another program may hold the package manager for minutes, as the nightly updates do; a dump need not wait for it. */
const zstdScript = `
if command -v zstd >/dev/null; then echo yes; exit 0; fi
if ! command -v apt-get >/dev/null; then echo no; exit 0; fi
export DEBIAN_FRONTEND=noninteractive
install() { apt-get -o DPkg::Lock::Timeout=60 --yes --no-install-recommends install zstd </dev/null >&2; }
install || { apt-get -o DPkg::Lock::Timeout=60 update </dev/null >&2 && install; } || :
if command -v zstd >/dev/null; then echo yes; else echo no; fi
`;

const noRoom = 75;

/** Where zstd is missing, it tries to install it, which does no harm when it fails. */
export async function serverTools({ remote, signal }: DockerHost): Promise<{ readonly hasZstd: boolean }> {
  const output = await remote.script(zstdScript, [], { timeoutMs: 10 * minute, signal });
  return { hasZstd: output.toString('latin1').trim() === 'yes' };
}

/** `$1` the file, `$2` the bytes that stay free: what is unpacked may be far larger than what was sent. */
const writeScript = `umask 077
room=$(($(df --output=avail -B1 -- "\${1%/*}" | tail -n 1) - $2))
if [ "$room" -le 0 ]; then exit ${noRoom}; fi
head -c "$room" >"$1.new"
if [ "$(stat -c %s -- "$1.new")" -ge "$room" ]; then rm -f -- "$1.new"; exit ${noRoom}; fi
sync "$1.new"
mv -fT "$1.new" "$1"
`;

/**
 * The path of a file that the server can read by itself: the file, or a copy next to it that we have unpacked. That one
 * ends in `.plain` and is removed with the folder of the file; `removeUnpacked` does it earlier.
 */
export async function readablePath(host: DockerHost, file: ServerFile): Promise<string> {
  const { remote, signal } = host;
  if ((await serverTools(host)).hasZstd || !(await isZstd(host, file))) return file.path;
  const plain = plainOf(file);
  const limits = { timeoutMs: 24 * hour, signal };
  const from = await remote.stream(['cat', '--', file.path], limits);
  const to = await remote.stream(['sh', '-euc', writeScript, 'sh', plain, String(reserveBytes)], limits);
  const sent = pipeline(from.stdout, createZstdDecompress(), to.stdin).catch((error: unknown) => error);
  const { code } = await to.ended;
  if (code === noRoom)
    throw new Fault('disk_full', 'The disk of the server has no space for the unpacked file.', {
      hint: 'Free some space on the server, then try again. Nothing was changed.',
    });
  const problem = await sent;
  if (problem !== undefined) throw problem;
  if (code !== 0) throw new Fault('remote_failed', 'The unpacked file could not be written on the server.');
  return plain;
}

export async function removeUnpacked({ remote }: DockerHost, file: ServerFile): Promise<void> {
  await remote.output(['rm', '-f', '--', plainOf(file), `${plainOf(file)}.new`]);
}

function plainOf({ path }: ServerFile): string {
  return `${path}.plain`;
}

async function isZstd({ remote, signal }: DockerHost, { path }: ServerFile): Promise<boolean> {
  const head = await remote.output(['head', '-c', '4', '--', path], { signal });
  return head.equals(Buffer.from([0x28, 0xb5, 0x2f, 0xfd]));
}
