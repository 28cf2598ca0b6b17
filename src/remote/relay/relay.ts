/** Sockets of the server, one exchange after the other in one round trip: Docker's, the proxy's, an application's. */
import { Fault } from '../../fault.ts';
import { type Commands, commandFailed } from '../exec/commands.ts';
import type { Exchange, RelayAttempt, RelayOptions, RelayReply } from '../remote.ts';
import { exits } from '../units/unit-scripts.ts';
import { fenceArguments, fencedFault } from '../units/units.ts';
import { relayScript, relayScriptAfter } from './relay-script.ts';

const defaultTimeoutMs = 30_000;
const defaultMaxBytes = 1024 * 1024;
const graceMs = 30_000;
/** What runs ahead of the exchanges may have to wait for others, and for a reload of the proxy. */
const firstMs = 180_000;

export async function relay(
  commands: Commands,
  exchanges: readonly Exchange[],
  { fence, first, signal, secrets }: RelayOptions = {},
): Promise<RelayReply[]> {
  const given = Buffer.from(first?.input ?? '');
  const text = first ? relayScriptAfter(first.text) : relayScript;
  const args = first ? [String(given.length), ...first.args] : [];
  const outcome = await commands.runScript(text, [...fenceArguments(fence), ...args], {
    input: Buffer.concat([given, ...exchanges.map(recordOf)]),
    timeoutMs: exchanges.reduce((sum, each) => sum + maxDurationMs(each), first ? firstMs : graceMs),
    maxOutputBytes: exchanges.reduce((sum, each) => sum + maxOutput(each), 64 * 1024),
    ...(signal && { signal }),
    ...(secrets && { secrets }),
  });
  if (outcome.code === exits.fenced) throw fencedFault(outcome.stderr.toString('utf8').trim());
  if (outcome.code !== 0)
    throw first?.failure?.(outcome) ?? commandFailed([first ? 'sh' : 'perl'], outcome, secrets);
  return parseReplies(outcome.stdout);
}

/** The first, and the repeats that come sooner than the others. */
const soonerTries = 32;

function maxDurationMs({ timeoutMs = defaultTimeoutMs, until }: Exchange): number {
  return timeoutMs + (until?.forMs ?? 0);
}

function maxOutput({ maxBytes = defaultMaxBytes, until }: Exchange): number {
  const tries = until ? Math.ceil(until.forMs / until.everyMs) + soonerTries : 1;
  return tries * (maxBytes + 100);
}

function recordOf({ to, send, expect, until, ...limits }: Exchange): Buffer {
  const { timeoutMs = defaultTimeoutMs, maxBytes = defaultMaxBytes } = limits;
  const address = 'path' in to ? `- ${to.path}` : `${to.host} ${to.port}`;
  // The address is a field of a line; a space in it would shift the others.
  if (!/^(-|[0-9a-fA-F.:]+) [^\s]+$/.test(address))
    throw new Fault('invalid_input', 'A socket is named by a path without spaces, or by address and port.', {
      evidence: address,
    });
  const [pattern, bytes] = [Buffer.from(expect ?? ''), Buffer.from(send)];
  const numbers = [
    timeoutMs,
    until?.everyMs ?? 0,
    until?.forMs ?? -1,
    maxBytes,
    pattern.length,
    bytes.length,
  ];
  return Buffer.concat([Buffer.from(`${address} ${numbers.join(' ')}\n`), pattern, bytes]);
}

function parseReplies(output: Buffer): RelayReply[] {
  const tries: RelayAttempt[][] = [];
  for (let from = 0; from < output.length; ) {
    const line = output.indexOf('\n', from);
    const [record, ms, state = '', size] = output.subarray(from, line).toString('latin1').split(' ');
    const end = line + 1 + Number(size);
    if (line === -1 || !(end <= output.length))
      throw new Fault('remote_failed', 'The reply of the server is incomplete.');
    const bytes = output.subarray(line + 1, end);
    const problem = state === 'met' || state === 'unmet' ? null : state.replaceAll('-', ' ').trim();
    const index = Number(record);
    const one = { atMs: Number(ms), isMet: state === 'met', problem, bytes };
    tries[index] = [...(tries[index] ?? []), one];
    from = end;
  }
  return tries.map((each) => ({ tries: each, last: lastOf(each) }));
}

function lastOf(tries: readonly RelayAttempt[]): RelayAttempt {
  const last = tries.at(-1);
  if (!last) throw new Fault('remote_failed', 'The server skipped an exchange.');
  return last;
}
