/**
 * Work on the server that outlives us, and tells how far it is by lines of ours in what it prints:
 *
 *   @stage words for people     @progress bytes read so far     @stat [key, value]     @refused what was detected
 *   @over disk or data, how many bytes it is, and how many it may be: it was ended for that
 *   @end the exit code: without it, it did not end by itself, and how it would have ended nobody knows
 *
 * A few bytes of a file can become more data than the disk holds. So what the work fills is watched on the server, by the
 * work itself, whether we are there or not.
 */

import { type DockerHost, lostWithDocker } from '../../../engine/docker-host.ts';
import { Fault } from '../../../fault.ts';
import { followUnit } from '../../../remote/units/follow-unit.ts';
import type { ContentStats, EngineProgress, RestoreVerdict, ServerFile } from './engine.ts';
import { ToolOutput } from './tool-output.ts';

export interface Script {
  /** Constant, for Bash. */
  readonly script: string;
  readonly args: readonly string[];
  /** Constant, for Bash, with the same arguments: ends what grows, also where that is in a container. */
  readonly halt?: string;
}

/** What the work fills, and how far it may. */
export interface Filled {
  readonly folder: string;
  /** Null: as far as the disk allows. */
  readonly mostBytes: number | null;
}

export type UnitEnd =
  | { readonly isDone: true; readonly contentStats: ContentStats }
  | {
      readonly isDone: false;
      readonly refused: string | null;
      readonly evidence: string;
      /** Where it was ended for what it took. */
      readonly overrun: Fault | null;
    };

/** Of the disk: what stays free for the databases and applications that live on it. */
export const reserveBytes = 512 * 1024 * 1024;
/** For the programs outside of containers that read the file: unpackers, and Docker's client. */
const memoryMb = 512;
/** More stages than any work of ours has are the words of a file. */
const mostStages = 20;

/** By the id alone, so that a second call joins the first. */
export function unitOf(work: 'verify' | 'load', id: string): string {
  return `slipway-${work}-${id.toLowerCase().replaceAll('_', '-')}`;
}

/**
 * Ahead of each script: `$1` the bytes that stay free, `$2` those that may be filled or 0, `$3` the folder; then its own
 * arguments. `reading FILE` opens it as descriptor 8 and tells how far it was read, until `read_done`. Each half second
 * of a fast disk is less than what stays free; to count a folder takes longer than to ask for the free space.
 */
const preludeOf = (halt: string) => `
set -euo pipefail
reserve=$1 most=$2 filled=$3
shift 3
ticker= watcher=
trap 'code=$?; trap - EXIT; for each in $ticker $watcher; do kill "$each" 2>/dev/null || :; done; echo "@end $code"' EXIT
halt() {
:
${halt}
}
over() {
  echo "@over $1 $2 $3"
  shift 3
  halt "$@" >&2 || :
  kill -TERM "$$"
  exit 0
}
watch() {
  local turn=0 free used
  while sleep 0.5; do
    free=$(df --output=avail -B1 -- "$filled" | tail -n 1) || continue
    if [ "$free" -lt "$reserve" ]; then over disk "$free" "$reserve" "$@"; fi
    turn=$((turn + 1))
    if [ "$most" = 0 ] || [ $((turn % 4)) != 0 ]; then continue; fi
    used=$({ du -sxB1 -- "$filled" 2>/dev/null || :; } | cut -f 1)
    if [ "\${used:-0}" -gt "$most" ]; then over data "$used" "$most" "$@"; fi
  done
}
watch "$@" &
watcher=$!
reading() {
  exec 8<"$1"
  ( while sleep 1; do sed -n 's/^pos:[^0-9]*/@progress /p' "/proc/$$/fdinfo/8" || exit 0; done ) 2>/dev/null &
  ticker=$!
}
read_done() {
  if [ -n "$ticker" ]; then kill "$ticker" 2>/dev/null || :; fi
  ticker=
  exec 8<&-
}
`;

/** Joined where it runs already. Fails with `work_lost` where it was cut off on the way, and may be begun again. */
export async function runUnit(
  { remote, fence, signal }: DockerHost,
  name: string,
  { script, args, halt = '' }: Script,
  { folder, mostBytes }: Filled,
  file: ServerFile,
  progress: EngineProgress,
): Promise<UnitEnd> {
  const what = name.startsWith('slipway-verify-') ? 'Trying the backup out' : 'Loading the data';
  // Its lines come without secrets.
  const output = new ToolOutput([]);
  let end: string | undefined;
  let refused: string | null = null;
  let overrun: Fault | null = null;
  let stages = 0;
  const fraction = (bytes: string) =>
    progress.fraction(file.bytes > 0 ? Math.min(1, Number(bytes) / file.bytes) : 1);
  // Numbers, and figures of the data: read as they were printed.
  const own = (text: string) => {
    const [, word = '', rest = ''] = /^@(progress|over|end|stat) (.*)$/.exec(text) ?? [];
    if (word === 'progress') fraction(rest);
    else if (word === 'over') overrun = overrunOf(rest);
    else if (word === 'end') end = rest;
    else if (word === 'stat') output.take(text);
  };
  const line = (text: string) => {
    const [, word = '', rest = ''] = /^@(stage|progress|refused|over|end|stat) (.*)$/.exec(text) ?? [];
    if (word === 'stage') {
      stages += 1;
      if (stages <= mostStages) progress.log(rest.slice(0, 200));
    } else if (word === 'refused') refused = rest;
    else if (word === '') output.take(text);
  };
  const limits = [String(reserveBytes), String(mostBytes ?? 0), folder];
  const argv = ['bash', '-c', `${preludeOf(halt)}${script}`, 'slipway-work', ...limits, ...args];
  try {
    await followUnit(remote, { name, argv, fence, memoryMb, what }, { signal, line, own });
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'remote_failed') throw error;
    if (overrun === null && (end === undefined || end === '0')) throw error;
    const { evidence } = output;
    const lost = lostWithDocker(evidence, error);
    if (lost) throw lost;
    return { isDone: false, refused, evidence, overrun };
  }
  return { isDone: true, contentStats: output.contentStats };
}

/** `disk`, what was free and what must stay free; `data`, what there was and what is allowed. */
function overrunOf(text: string): Fault {
  const [of = '', ...numbers] = text.split(' ');
  const [bytes = 0, limit = 0] = numbers.map(Number);
  if (of === 'data')
    return new Fault(
      'import_failed',
      `The file became ${inGb(bytes)} of data while it was loaded, and ${inGb(limit)} are allowed. The data is unchanged.`,
      { hint: 'Whoever runs the service can allow more with SLIPWAY_LIMIT_IMPORT_DATA_MB.' },
    );
  return new Fault(
    'disk_full',
    `The load was ended when the disk of the server had ${inGb(bytes)} left: ${inGb(limit)} must stay free. The data is unchanged.`,
    { hint: 'Free some space on the server, or use a server with a larger disk, then try again.' },
  );
}

export function inGb(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Where the server failed, nothing was learnt of the backup; otherwise the backup is corrupt. */
export function notRestored(
  what: string,
  { evidence, overrun }: Pick<Extract<UnitEnd, { isDone: false }>, 'evidence' | 'overrun'>,
): RestoreVerdict {
  if (overrun) return { outcome: 'unverifiable', reason: overrun.message };
  const isOfServer =
    /No space left on device|disk is full|could not extend file|Cannot allocate memory|out of memory|\bKilled\b|is not running|No such container/i;
  const end = evidence.trim().split('\n').slice(-3).join(' ').slice(-600);
  return { outcome: isOfServer.test(evidence) ? 'unverifiable' : 'corrupt', reason: `${what}: ${end}` };
}
