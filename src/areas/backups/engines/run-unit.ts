/**
 * Work on the server that outlives us, and tells how far it is by lines of ours in what it prints:
 *
 *   @stage words for people     @progress bytes read so far     @stat [key, value]     @refused what was detected
 *   @end the exit code: without it, it did not end by itself, and how it would have ended nobody knows
 */

import type { DockerHost } from '../../../engine/docker-host.ts';
import { Fault } from '../../../fault.ts';
import { followUnit } from '../../../remote/units/follow-unit.ts';
import type { ContentStats, EngineProgress, RestoreVerdict, ServerFile } from './engine.ts';
import { ToolOutput } from './tool-output.ts';

export interface Script {
  /** Constant, for Bash. */
  readonly script: string;
  readonly args: readonly string[];
}

export type UnitEnd =
  | { readonly isDone: true; readonly contentStats: ContentStats }
  | { readonly isDone: false; readonly refused: string | null; readonly evidence: string };

/** By the id alone, so that a second call joins the first. */
export function unitOf(work: 'verify' | 'load', id: string): string {
  return `slipway-${work}-${id.toLowerCase().replaceAll('_', '-')}`;
}

/** Ahead of each script. `reading FILE` opens it as descriptor 8 and tells how far it was read, until `read_done`. */
const prelude = `
set -euo pipefail
trap 'code=$?; trap - EXIT; if [ -n "\${ticker:-}" ]; then kill "$ticker" 2>/dev/null || :; fi; echo "@end $code"' EXIT
ticker=
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

/** A Docker that was started again knows nothing of what it ran. */
const dockerRestarted =
  /^Error response from daemon: No such exec instance|^Cannot connect to the Docker daemon/m;

/** Joined where it runs already. Fails with `work_lost` where it was cut off on the way, and may be begun again. */
export async function runUnit(
  { remote, fence, signal }: DockerHost,
  name: string,
  { script, args }: Script,
  file: ServerFile,
  progress: EngineProgress,
): Promise<UnitEnd> {
  const output = new ToolOutput();
  let end: string | undefined;
  let refused: string | null = null;
  const line = (text: string) => {
    const [, word = '', rest = ''] = /^@(stage|progress|refused|end) (.*)$/.exec(text) ?? [];
    if (word === 'stage') progress.log(rest);
    else if (word === 'progress')
      progress.fraction(file.bytes > 0 ? Math.min(1, Number(rest) / file.bytes) : 1);
    else if (word === 'refused') refused = rest;
    else if (word === 'end') end = rest;
    else output.take(text);
  };
  const argv = ['bash', '-c', `${prelude}${script}`, 'slipway-work', ...args];
  try {
    await followUnit(remote, { name, argv, fence }, { signal, line });
  } catch (error) {
    const hasFailed =
      error instanceof Fault && error.code === 'remote_failed' && end !== undefined && end !== '0';
    if (!hasFailed) throw error;
    const { evidence } = output;
    if (dockerRestarted.test(evidence))
      throw new Fault('work_lost', 'Docker was restarted on the server during the work.', {
        evidence,
        cause: error,
      });
    return { isDone: false, refused, evidence };
  }
  return { isDone: true, contentStats: output.contentStats };
}

/** Where the server failed, nothing was learnt of the backup; otherwise the backup is corrupt. */
export function notRestored(what: string, evidence: string): RestoreVerdict {
  const isOfServer =
    /No space left on device|disk is full|could not extend file|Cannot allocate memory|out of memory|\bKilled\b|is not running|No such container/i;
  const end = evidence.trim().split('\n').slice(-3).join(' ').slice(-600);
  return { outcome: isOfServer.test(evidence) ? 'unverifiable' : 'corrupt', reason: `${what}: ${end}` };
}
