/** A request through the front's own listener that reaches one certain server, before any visitor's does. */
import { Fault } from '../../fault.ts';
import type { RelayAttempt } from '../../remote/remote.ts';
import { admit } from './front-changes.ts';
import type { ProxyFront, ProxyServer, ProxyWork } from './fronts.ts';
import { mustBeFront, mustBeServers } from './render-front.ts';
import { proxyDown } from './server-program.ts';

export interface CheckOptions {
  readonly path: string;
  readonly host: string;
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

export async function checkThrough(
  work: ProxyWork,
  front: ProxyFront,
  server: ProxyServer,
  options: CheckOptions,
): Promise<ThroughAnswer> {
  mustBeFront(front);
  mustBeServers([server]);
  const first = await askThrough(work, front, server, options);
  if (first.served === server.name || first.served === null) return first.answer;
  // A reload for another front came in between; it knows only what stands in the files.
  await admit(work, front, [server]);
  return (await askThrough(work, front, server, options)).answer;
}

async function askThrough(
  { remote, fence, signal }: ProxyWork,
  { port }: ProxyFront,
  { name }: ProxyServer,
  { path, host, timeoutMs }: CheckOptions,
): Promise<{ answer: ThroughAnswer; served: string | null }> {
  if (!/^\/[!-~]*$/.test(path) || !/^[!-~]+$/.test(host))
    throw new Fault('invalid_input', 'A path begins with a slash; neither it nor a host has blanks.', {
      evidence: `${host} ${path}`,
    });
  const head = [`GET ${path} HTTP/1.1`, `Host: ${host}`, 'User-Agent: Slipway', 'Accept: */*'];
  const send = [...head, `X-Slipway-Check: ${name}`, 'Connection: close', '', ''].join('\r\n');
  const to = { host: '127.0.0.1', port };
  const [answer] = await remote.relay([{ to, send, timeoutMs, maxBytes }], { fence, signal });
  if (!answer) throw new Fault('remote_failed', 'The server skipped an exchange.');
  if (isNobody(answer.last))
    throw proxyDown(answer.last.problem ?? 'it closed the connection without a word');
  return read(answer.last, name);
}

/** One that runs says something, and be it that nobody answers behind it; one that is started again says nothing. */
function isNobody({ problem, bytes }: RelayAttempt): boolean {
  return bytes.length === 0 && problem !== 'answer:timed out';
}

function read(
  { problem, bytes }: RelayAttempt,
  name: string,
): { answer: ThroughAnswer; served: string | null } {
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
