/** The output of containers as it comes. */
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { Fault } from '../../fault.ts';
import type { Remote } from '../../remote/remote.ts';
import { type LogLine, readLogLine } from './container-output.ts';

export interface LogFollowing {
  /** So many of its last lines first. */
  readonly tail: number;
  readonly signal: AbortSignal;
  line(name: string, stream: LogLine['stream'], at: string, text: string): void;
}

/** Longer than any container runs; the signal ends it. */
const forever = 2 ** 31 - 1;
const longestLine = 16 * 1024;

/** Until all of them have ended, or the signal comes. */
export async function followLogs(
  remote: Remote,
  names: readonly string[],
  following: LogFollowing,
): Promise<void> {
  // Where one fails, the others are ended too: nobody would read them any more.
  const stop = new AbortController();
  const signal = AbortSignal.any([following.signal, stop.signal]);
  const all = names.map((name) => followOne(remote, name, { ...following, signal }));
  try {
    await Promise.all(all);
  } catch (error) {
    stop.abort(error);
    await Promise.allSettled(all);
    if (following.signal.aborted) return;
    throw error;
  }
}

async function followOne(remote: Remote, name: string, { tail, signal, line }: LogFollowing): Promise<void> {
  const argv = ['docker', 'logs', '--follow', '--timestamps', '--tail', String(tail), '--', name];
  const { stdin, stdout, stderr, ended } = await remote.stream(argv, { timeoutMs: forever, signal });
  stdin.end();
  let complaint = '';
  const out = tell(stdout, (text) => {
    const { at, line: rest } = readLogLine(text);
    line(name, 'stdout', at, rest);
  });
  const err = tell(stderr, (text) => {
    const { at, line: rest } = readLogLine(text);
    // What Docker itself has to say comes without a time.
    if (/^\d{4}-\d{2}-\d{2}T/.test(at)) line(name, 'stderr', at, rest);
    else complaint = text;
  });
  const [{ code }] = await Promise.all([ended, out, err]);
  if (code !== 0)
    throw new Fault('docker_failed', 'The output of a container cannot be followed.', {
      evidence: complaint,
    });
}

async function tell(from: Readable, take: (text: string) => void): Promise<void> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of from) {
    const lines = (rest + decoder.write(chunk)).split('\n');
    // A program that never ends its line must not fill our memory; of such a line the beginning is told.
    rest = (lines.pop() ?? '').slice(0, longestLine);
    for (const each of lines) take(each.slice(0, longestLine));
  }
  if (rest !== '') take(rest);
}
