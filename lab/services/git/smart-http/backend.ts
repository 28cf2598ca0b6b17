/** `git http-backend` as a CGI program: a request streams in, the answer streams out, neither is held in memory. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { exitCode, type Git, ignoreBrokenPipe } from '../repository/git.ts';

export interface BackendCall {
  readonly root: string;
  /** `/owner/name.git/info/refs` */
  readonly path: string;
  readonly query: string;
  readonly login: string | undefined;
}

/** Writes the answer but does not end it. The process is gone when this returns, however it went. */
export async function runBackend(
  git: Git,
  call: BackendCall,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const child = git.start(['http-backend'], environment(call, request));
  const ended = exitCode(child);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4_000);
  });
  child.stdin.on('error', ignoreBrokenPipe);
  request.pipe(child.stdin);
  const clientGone = () => git.end(child);
  response.once('close', clientGone);
  if (response.destroyed) clientGone();
  try {
    let head: Buffer | undefined = Buffer.alloc(0);
    for await (const chunk of child.stdout) {
      let body: Buffer = chunk;
      if (head) {
        head = Buffer.concat([head, chunk]);
        const end = endOfHead(head);
        if (end === undefined) continue;
        writeHead(response, head.subarray(0, end).toString());
        body = head.subarray(end);
        head = undefined;
      }
      await write(response, body);
    }
    await ended;
    if (head && !response.destroyed) throw new Error(`git http-backend gave no answer: ${said.trim()}`);
  } finally {
    response.off('close', clientGone);
    request.unpipe(child.stdin);
    // What git did not want to read is let go, or the connection could not be used again.
    request.resume();
    git.end(child);
    await ended;
  }
}

async function write(response: ServerResponse, chunk: Buffer): Promise<void> {
  if (response.destroyed || response.write(chunk)) return;
  const either = new AbortController();
  const { signal } = either;
  try {
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
  } finally {
    either.abort();
  }
}

function endOfHead(bytes: Buffer): number | undefined {
  const found = bytes.indexOf('\r\n\r\n');
  return found < 0 ? undefined : found + 4;
}

function writeHead(response: ServerResponse, head: string): void {
  let status = 200;
  for (const line of head.split('\r\n').filter(Boolean)) {
    const [, name = '', value = ''] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
    else if (name !== '') response.setHeader(name, value);
  }
  response.writeHead(status);
}

function environment(call: BackendCall, request: IncomingMessage): Record<string, string> {
  const { headers } = request;
  const optional = {
    REMOTE_USER: call.login,
    CONTENT_TYPE: headers['content-type'],
    CONTENT_LENGTH: headers['content-length'],
    HTTP_CONTENT_ENCODING: headers['content-encoding'],
    GIT_PROTOCOL: headers['git-protocol'],
  };
  const given = Object.entries(optional).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return {
    GIT_PROJECT_ROOT: call.root,
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: call.path,
    QUERY_STRING: call.query,
    REQUEST_METHOD: request.method ?? 'GET',
    REMOTE_ADDR: request.socket.remoteAddress ?? '',
    SERVER_PROTOCOL: 'HTTP/1.1',
    ...Object.fromEntries(given),
  };
}
