/** What listens inside a container, read from the server: the container needs no program for it. */
import type { Remote } from '../../remote/remote.ts';

export interface ListeningSocket {
  /** `0.0.0.0`, `127.0.0.1`, `::`, `::1` … */
  readonly address: string;
  readonly port: number;
  /** Reachable from inside the container only. */
  readonly isLoopback: boolean;
}

/** A process that has ended meanwhile listens nowhere. */
const script = `for each in tcp tcp6; do
  if [ -r "/proc/$1/net/$each" ]; then cat "/proc/$1/net/$each" || :; fi
done`;

export async function listeningIn(remote: Remote, pid: number): Promise<ListeningSocket[]> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return [];
  return readListening((await remote.script(script, [String(pid)])).toString('latin1'));
}

const listening = '0A';

/** The kernel's table: number, local address, remote address, state. */
export function readListening(table: string): ListeningSocket[] {
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state] = line.trim().split(/\s+/);
    const [hex = '', port = ''] = local.split(':');
    if (state !== listening || !/^([0-9A-F]{8}|[0-9A-F]{32})$/.test(hex)) return [];
    const bytes = bytesOf(hex);
    const address = bytes.length === 4 ? bytes.join('.') : longAddress(bytes);
    const isLoopback = address.startsWith('127.') || address === '::1' || address.startsWith('::ffff:127.');
    return [{ address, port: Number.parseInt(port, 16), isLoopback }];
  });
}

/** Words of four bytes, each written as the machine holds it: the lowest byte first on all that Docker runs on. */
function bytesOf(hex: string): number[] {
  const words = hex.match(/.{8}/g) ?? [];
  return words.flatMap((word) => [...Buffer.from(word, 'hex')].reverse());
}

function longAddress(bytes: readonly number[]): string {
  const mapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  if (mapped) return `::ffff:${bytes.slice(12).join('.')}`;
  const words = Array.from({ length: 8 }, (_, at) => ((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0));
  const url = new URL(`http://[${words.map((word) => word.toString(16)).join(':')}]/`);
  return url.hostname.slice(1, -1);
}
