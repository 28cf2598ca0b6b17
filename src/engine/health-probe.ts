/** One question to an app whether it is well, as bytes of HTTP, and what its answer says. No I/O: `remote/` carries it. */
import { Fault } from '../fault.ts';
import { redactWhole } from '../remote/exec/redact.ts';
import type { RelayAttempt } from '../remote/remote.ts';
import type { Secret } from '../secret.ts';

export type ProbeOutcome =
  | 'ok'
  | 'status'
  | 'redirect'
  | 'refused'
  | 'timeout'
  | 'closed'
  | 'not_http'
  | 'unreachable';

export interface Probe {
  /** Since the first one. */
  readonly atMs: number;
  readonly outcome: ProbeOutcome;
  readonly status: number | null;
  /** Where a redirect leads. */
  readonly location: string | null;
  /** What can be printed of it, cut short. */
  readonly body: string;
  /** As the socket told it; null where there was an answer. */
  readonly problem: string | null;
}

export interface ProbeSpec {
  readonly path: string;
  readonly host: string;
  readonly port: number;
}

const mostOfBody = 500;
const mostOfLocation = 500;

/** Nothing gets in that could end a line: one request goes out, whatever it was given. */
export function probeRequest({ path, host, port }: ProbeSpec): Buffer {
  if (!/^\/[\x21-\x7e]*$/.test(path))
    throw refused(
      'healthPath',
      'A path begins with / and has no spaces, line ends or other unprintable characters.',
    );
  if (!/^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])$/.test(host))
    throw refused('host', 'A host is a name or an address.');
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw refused('port', 'A port is a number from 1 to 65535.');
  const lines = [
    `GET ${path} HTTP/1.1`,
    `Host: ${port === 80 ? host : `${host}:${port}`}`,
    'User-Agent: slipway-health/1',
    'Accept: */*',
    'Connection: close',
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function refused(path: string, message: string): Fault {
  return new Fault('invalid_input', 'The health check cannot be asked like this.', {
    hint: message,
    errors: [{ path, message }],
  });
}

/**
 * An answer whose head is whole counts by its status, also where the rest never came: a server that ignores
 * `Connection: close` has answered all the same.
 */
export function readProbe({ atMs, problem, bytes }: RelayAttempt, secrets: readonly Secret[] = []): Probe {
  const none = { atMs, status: null, location: null, body: '', problem };
  const answer = answerIn(bytes, secrets);
  if (answer) return { ...none, ...answer, problem: null };
  if (bytes.length > 0 && !isBeginOfHttp(bytes)) {
    // A TLS alert (21) of any version: the answer of most to a plain request on a port for https.
    const said = bytes[0] === 21 && bytes[1] === 3 ? 'answer:TLS' : (problem ?? 'answer:not HTTP');
    return { ...none, outcome: 'not_http', body: printable(redactWhole(bytes, secrets)), problem: said };
  }
  return { ...none, outcome: failureOf(problem) };
}

/** A port without a path is well once it takes connections; what it says then is its own affair. */
export function isHealthy(probe: Probe, path: string | null): boolean {
  return path === null ? hasReached(probe) : probe.outcome === 'ok';
}

/** Whether something took the connection, whatever became of it. */
export function hasReached({ outcome, problem }: Probe): boolean {
  return outcome === 'timeout' ? hasConnected(problem) : outcome !== 'refused' && outcome !== 'unreachable';
}

function hasConnected(problem: string | null): boolean {
  return problem !== null && !problem.startsWith('connect:') && !problem.startsWith('socket:');
}

function failureOf(problem: string | null): ProbeOutcome {
  if (problem === null) return 'closed';
  if (/timed out/i.test(problem)) return 'timeout';
  if (/refused/i.test(problem)) return 'refused';
  return hasConnected(problem) ? 'closed' : 'unreachable';
}

function isBeginOfHttp(bytes: Buffer): boolean {
  const start = bytes.subarray(0, 7).toString('latin1');
  return 'HTTP/1.'.startsWith(start);
}

type Answered = Pick<Probe, 'outcome' | 'status' | 'location' | 'body'>;

function answerIn(bytes: Buffer, secrets: readonly Secret[]): Answered | undefined {
  const text = bytes.toString('latin1');
  // Some programs end their lines with a bare LF; browsers take that too.
  const end = /\r?\n\r?\n/.exec(text);
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?:[ \r\n]|$)/.exec(text)?.[1] ?? Number.NaN);
  if (!end || Number.isNaN(status)) return undefined;
  const rest = bytes.subarray(end.index + end[0].length);
  // Early hints and the like come before the answer itself.
  if (status >= 100 && status < 200 && status !== 101) return answerIn(rest, secrets);
  const head = text.slice(0, end.index);
  const whole = /^transfer-encoding:.*\bchunked/im.test(head) ? dechunked(rest) : rest;
  const body = printable(redactWhole(whole, secrets));
  const location = /^location:[ \t]*([^\r\n]*)/im.exec(head)?.[1];
  if (status >= 200 && status < 300) return { outcome: 'ok', status, location: null, body };
  if (location && status >= 300 && status < 400)
    return {
      outcome: 'redirect',
      status,
      location: printable(redactWhole(Buffer.from(location, 'latin1'), secrets), mostOfLocation),
      body,
    };
  return { outcome: 'status', status, location: null, body };
}

/** As far as it came; what is not a size ends it. */
function dechunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const line = bytes.indexOf('\n', at);
    const size = Number.parseInt(bytes.subarray(at, line === -1 ? at : line).toString('latin1'), 16);
    if (!(size > 0)) break;
    parts.push(bytes.subarray(line + 1, line + 1 + size));
    at = line + 1 + size + 2;
  }
  return Buffer.concat(parts);
}

function printable(bytes: Buffer, most = mostOfBody): string {
  const text = bytes.subarray(0, most * 8).toString('utf8');
  const clean = text.replaceAll(/[\p{C}\ufffd\s]+/gu, ' ').trim();
  return Array.from(clean).slice(0, most).join('');
}
