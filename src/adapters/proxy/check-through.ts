/** A request through the front's own listener that reaches one certain server, before any visitor's does. */
import { Fault } from '../../fault.ts';
import type { FirstScript, RelayAttempt } from '../../remote/remote.ts';
import { admission, admit } from './front-changes.ts';
import type { ProxyFront, ProxyServer, ProxyWork } from './fronts.ts';
import { mustBeFront } from './render-front.ts';
import { proxyDown } from './server-program.ts';
import { settleFirst } from './settle.ts';

export interface CheckOptions {
  readonly path: string;
  /** Default: the server's own name. */
  readonly host?: string;
  readonly timeoutMs: number;
}

export interface ThroughAnswer {
  /** Null where there was no answer of that server's. */
  readonly status: number | null;
  /** The beginning of what was answered, without the head. */
  readonly bytes: Buffer;
  readonly problem: string | null;
}

const maxBytes = 64 * 1024;

/** Lets them in without giving them requests, and asks each of them, in one round trip. In the order of the servers. */
export async function admitAndCheck(
  work: ProxyWork,
  front: ProxyFront,
  servers: readonly ProxyServer[],
  options: CheckOptions,
): Promise<ThroughAnswer[]> {
  mustBeFront(front);
  const first = settleFirst(work, admission(front, servers));
  const seen = await askThrough(work, front, servers, options, first);
  const answers: ThroughAnswer[] = [];
  for (const [index, server] of servers.entries()) {
    const one = seen[index];
    answers.push(one && !isOfAnother(one, server) ? one.answer : await again(work, front, server, options));
  }
  return answers;
}

interface Answered {
  readonly answer: ThroughAnswer;
  readonly served: string | null;
}

function isOfAnother({ served }: Answered, { name }: ProxyServer): boolean {
  return served !== name && served !== null;
}

/** A reload for another front came in between; it knows only what stands in the files. */
async function again(
  work: ProxyWork,
  front: ProxyFront,
  server: ProxyServer,
  options: CheckOptions,
): Promise<ThroughAnswer> {
  await admit(work, front, [server]);
  const [seen] = await askThrough(work, front, [server], options);
  if (!seen) throw new Fault('remote_failed', 'The server skipped an exchange.');
  return seen.answer;
}

async function askThrough(
  { remote, fence, signal }: ProxyWork,
  { port }: ProxyFront,
  servers: readonly ProxyServer[],
  { path, host, timeoutMs }: CheckOptions,
  first?: FirstScript,
): Promise<Answered[]> {
  const to = { host: '127.0.0.1', port };
  const exchanges = servers.map(({ name }) => {
    const asked = host ?? name;
    if (!/^\/[!-~]*$/.test(path) || !/^[!-~]+$/.test(asked))
      throw new Fault('invalid_input', 'A path begins with a slash; neither it nor a host has blanks.', {
        evidence: `${asked} ${path}`,
      });
    const head = [`GET ${path} HTTP/1.1`, `Host: ${asked}`, 'User-Agent: Slipway', 'Accept: */*'];
    const send = [...head, `X-Slipway-Check: ${name}`, 'Connection: close', '', ''].join('\r\n');
    return { to, send, timeoutMs, maxBytes };
  });
  const replies = await remote.relay(exchanges, { fence, signal, ...(first && { first }) });
  return replies.map(({ last }, index) => {
    if (isNobody(last)) throw proxyDown(last.problem ?? 'it closed the connection without a word');
    return read(last, servers[index]?.name ?? '');
  });
}

/** One that runs says something, and be it that nobody answers behind it; one that is started again says nothing. */
function isNobody({ problem, bytes }: RelayAttempt): boolean {
  return bytes.length === 0 && problem !== 'answer:timed out';
}

function read({ problem, bytes }: RelayAttempt, name: string): Answered {
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.subarray(0, end === -1 ? 0 : end).toString('latin1');
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  if (status === undefined) {
    const silence = { status: null, bytes, problem: problem ?? 'the answer is not HTTP' };
    return { answer: silence, served: null };
  }
  const body = bytes.subarray(end + 4);
  const served = /^x-slipway-served: *(\S*)/im.exec(head)?.[1] ?? '';
  // What the proxy answers itself, because the server refuses or is silent, is no answer of another server's.
  const isOwn = served === '' || served === '<NOSRV>';
  if (served === name) return { answer: { status: Number(status), bytes: body, problem }, served };
  const instead = isOwn ? `the proxy itself answered ${status}` : `${served} answered instead`;
  return { answer: { status: null, bytes: body, problem: instead }, served };
}
