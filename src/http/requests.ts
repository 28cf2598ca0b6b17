/** The edges of a request: its id, which methods its path takes, and what to say when it is not HTTP at all. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { errorCode, Fault } from '../fault.ts';
import { problemOf, problemType } from './problem.ts';

/** A caller may name its request, so that one id runs through all systems; what is not an id is replaced. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w-]{8,64}$/.test(given) ? given : randomUUID();
}

/** Knows all routes, to tell a wrong method from a wrong path. Asked only when nothing matched. */
export class AllowedMethods {
  readonly #methods = new Map<string, Set<string>>();

  add(method: string | string[], url: string): void {
    const known = this.#methods.get(url) ?? new Set();
    for (const each of [method].flat()) known.add(each.toUpperCase());
    this.#methods.set(url, known);
  }

  of(url: string): string[] {
    const path = url.split('?', 1)[0] ?? url;
    const found = [...this.#methods].filter(([pattern]) => matches(pattern, path));
    return [...new Set(found.flatMap(([, methods]) => [...methods]))].sort();
  }
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const given = path.split('/');
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => part.startsWith(':') || part === given[index])
  );
}

/** Connections whose request may take longer than others to arrive. */
const patient = new WeakSet<Socket>();

/**
 * For an upload: the limit for a whole request does not hold for it, but one for each pause in it. The function that is
 * given ends that.
 */
export function takesItsTime(socket: Socket, stallMs: number): () => void {
  patient.add(socket);
  socket.setTimeout(stallMs);
  return () => {
    patient.delete(socket);
    socket.setTimeout(0);
  };
}

/** Node could not make a request of what came: answered by hand on the bare socket, in the same shape. */
export function answerBrokenRequest(error: Error, socket: Socket): void {
  if (errorCode(error) === 'ERR_HTTP_REQUEST_TIMEOUT' && patient.has(socket)) return;
  if (errorCode(error) === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy();
  const problem = problemOf(brokenRequest(errorCode(error)), { url: '', id: randomUUID() });
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    `Content-Type: ${problemType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function brokenRequest(code: string | undefined): Fault {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new Fault('headers_too_large', 'The request line and headers are larger than 16 KiB.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Fault('request_timeout', 'The request did not arrive within 30 seconds.');
  }
  return new Fault('bad_request', 'This is not a well-formed HTTP request.');
}
