/**
 * Work on the server that outlives us, told by lines of ours in what it prints:
 *
 *   @stage words for people     @progress bytes read so far     @figure [key, value]     @refused what was recognised
 *   @end the exit code: without it, it did not end by itself, and how it would have ended nobody knows
 */

import type { DockerHost } from '../../../engine/docker-host.ts';
import { Fault } from '../../../fault.ts';
import { followUnit } from '../../../remote/units/follow-unit.ts';
import type { Figures, Progress, Verdict } from './engine.ts';
import { ToolWords } from './run-in-container-words.ts';

export interface UnitWork {
  readonly unit: string;
  /** Constant, for Bash. */
  readonly script: string;
  readonly args: readonly string[];
  /** Of the file that it reads, for the progress. */
  readonly bytes: number;
}

export type UnitEnd =
  | { readonly isDone: true; readonly figures: Figures }
  | { readonly isDone: false; readonly refused: string | null; readonly evidence: string };

/** Ahead of each script. `reading FILE` opens it as descriptor 8 and tells how far it was read, until `read_on`. */
const unitWords = `
set -euo pipefail
trap 'code=$?; trap - EXIT; if [ -n "\${teller:-}" ]; then kill "$teller" 2>/dev/null || :; fi; echo "@end $code"' EXIT
teller=
reading() {
  exec 8<"$1"
  ( while sleep 1; do sed -n 's/^pos:[^0-9]*/@progress /p' "/proc/$$/fdinfo/8" || exit 0; done ) 2>/dev/null &
  teller=$!
}
read_on() {
  if [ -n "$teller" ]; then kill "$teller" 2>/dev/null || :; fi
  teller=
  exec 8<&-
}
`;

/** A Docker that was started again knows nothing of what it ran. */
const dockerEnded =
  /^Error response from daemon: No such exec instance|^Cannot connect to the Docker daemon/m;

/** Joined where it runs already. Fails with `work_lost` where it was cut off on the way, and may be begun again. */
export async function runUnit(site: DockerHost, work: UnitWork, progress: Progress): Promise<UnitEnd> {
  const { remote, fence, signal } = site;
  const words = new ToolWords();
  let end: string | undefined;
  let refused: string | null = null;
  const line = (text: string) => {
    const [, word = '', rest = ''] = /^@(stage|progress|refused|end) (.*)$/.exec(text) ?? [];
    if (word === 'stage') progress.log(rest);
    else if (word === 'progress')
      progress.fraction(work.bytes > 0 ? Math.min(1, Number(rest) / work.bytes) : 1);
    else if (word === 'refused') refused = rest;
    else if (word === 'end') end = rest;
    else words.take(text);
  };
  const argv = ['bash', '-c', `${unitWords}${work.script}`, 'slipway-work', ...work.args];
  try {
    await followUnit(remote, { name: work.unit, argv, fence }, { signal, line });
  } catch (error) {
    const isItsOwn =
      error instanceof Fault && error.code === 'remote_failed' && end !== undefined && end !== '0';
    if (!isItsOwn) throw error;
    if (dockerEnded.test(words.evidence))
      throw new Fault('work_lost', 'Docker was started again on the server under the work.', {
        evidence: words.evidence,
        cause: error,
      });
    return { isDone: false, refused, evidence: words.evidence };
  }
  return { isDone: true, figures: words.figures };
}

/** Where the server gave out, nothing was learnt of the backup; otherwise it is the backup that does not come out. */
export function notLoadedVerdict(what: string, evidence: string): Verdict {
  const isOfServer =
    /No space left on device|disk is full|could not extend file|Cannot allocate memory|out of memory|\bKilled\b|is not running|No such container/i;
  const said = evidence.trim().split('\n').slice(-3).join(' ').slice(-600);
  return { outcome: isOfServer.test(evidence) ? 'untried' : 'broken', reason: `${what}: ${said}` };
}
