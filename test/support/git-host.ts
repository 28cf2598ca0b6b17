/** What the tests of this folder share: a small host on loopback that answers as a test says, and counts what it got. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { TestContext } from 'node:test';
import { type GitHost, type GitHostKind, openGitHost } from '../../src/adapters/git-hosts/git-hosts.ts';
import type { Clock } from '../../src/clock.ts';
import type { OutboundFetch } from '../../src/outbound-fetch.ts';
import { Secret } from '../../src/secret.ts';

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string;
}

/** `undefined` is «not found»; `silence` is no answer at all. */
export type Answering = (request: Request) => Reply | 'silence' | undefined;

export interface TestHost {
  readonly url: string;
  readonly requests: Request[];
}

export async function startHost(t: TestContext, answer: Answering): Promise<TestHost> {
  const requests: Request[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const url = new URL(incoming.url ?? '/', 'http://host');
    const request = {
      method: incoming.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      headers: incoming.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
    requests.push(request);
    const reply = answer(request) ?? { status: 404, json: { message: 'Not Found' } };
    if (reply === 'silence') return;
    const body = reply.text ?? (reply.json === undefined ? '' : JSON.stringify(reply.json));
    const type = reply.text === undefined ? 'application/json' : 'text/html';
    response.writeHead(reply.status ?? 200, { 'content-type': type, ...reply.headers }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the host has no port');
  return { url: `http://127.0.0.1:${address.port}`, requests };
}

export const plainFetch: OutboundFetch = (url, { method, headers, body, signal }) =>
  fetch(url, {
    redirect: 'manual',
    ...(method !== undefined && { method }),
    ...(headers && { headers: { ...headers } }),
    ...(body != null && { body }),
    ...(signal && { signal }),
  });

let count = 0;

/** With a token of its own, so that no test waits for the limit of another. */
export const freshToken = () => `canary-token-${++count}-${Math.random().toString(36).slice(2)}`;

export function openAt(
  kind: GitHostKind,
  baseUrl: string,
  { token = freshToken(), username, clock }: { token?: string; username?: string; clock?: Clock } = {},
): Promise<GitHost> {
  const access = { kind, baseUrl, token: new Secret(token), ...(username !== undefined && { username }) };
  return openGitHost(access, plainFetch, clock);
}

/** The page that a request asks for, with the `Link` header of the hosts that have one. */
export function paged(request: Request, url: string, all: readonly unknown[], sizeName: string) {
  const size = Number(request.query.get(sizeName) ?? 20);
  const page = Number(request.query.get('page') ?? 1);
  const query = new URLSearchParams(request.query);
  query.set('page', String(page + 1));
  const isLast = page * size >= all.length;
  return {
    items: all.slice((page - 1) * size, page * size),
    next: isLast ? null : `${url}${request.path}?${query}`,
    link: isLast ? {} : { link: `<${url}${request.path}?${query}>; rel="next"` },
    nextPage: isLast ? '' : String(page + 1),
  };
}
