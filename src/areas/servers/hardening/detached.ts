/**
 * Work on the server that goes on when we crash. A later attempt waits for what an earlier one has left running, discards
 * its result, and only then starts its own: each attempt has a deadline and a verification of its own, so the end of
 * another one says nothing, and no two of them run at once.
 *
 * The names begin with `slipway-harden-`: the dead-man timer ends units by that, where one holds its lock for too long.
 */

import type { Fence, Remote } from '../../../remote/remote.ts';
import { startDeadline } from '../../../remote/ssh/deadline.ts';
import { Lines, readToEnd } from '../../../remote/units/follow-unit.ts';

export interface Detached {
  /** 255 also where it was ended from outside. */
  readonly code: number;
  /** The end of what it printed. */
  readonly output: string;
}

/** After this we stop waiting; the work itself is left alone, since half an installation helps nobody. */
const maxWaitMs = 30 * 60_000;
const maxOutputBytes = 3_000;

export async function runDetached(
  remote: Remote,
  what: string,
  argv: readonly string[],
  fence?: Fence,
  line: (text: string) => void = () => undefined,
): Promise<Detached> {
  const name = `slipway-harden-${what.replaceAll('_', '-')}`;
  const deadline = startDeadline(name, maxWaitMs);
  let output = Buffer.alloc(0);
  const lines = new Lines(line);
  const collect = (bytes: Buffer) => {
    output = Buffer.concat([output, bytes]).subarray(-maxOutputBytes);
    lines.push(bytes);
  };
  try {
    await readToEnd(remote, name, () => undefined, deadline.signal);
    await remote.stopUnit(name, fence);
    await remote.startUnit({ name, argv, ...(fence && { fence }) });
    const state = await readToEnd(remote, name, collect, deadline.signal);
    lines.end();
    await remote.stopUnit(name, fence);
    return { code: state.kind === 'ended' ? state.code : 255, output: output.toString('utf8') };
  } finally {
    deadline.clear();
  }
}
