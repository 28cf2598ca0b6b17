/**
 * GitHub's REST API under `/api/v3`, as GitHub Enterprise serves it. Owns what every answer has in common:
 * credentials, limits, validators, errors. Refuses what GitHub refuses, and has no data of its own beside the
 * repositories and the host's state.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { callerOf } from '../access.ts';
import { apiPath } from '../views/urls.ts';
import { type Answer, ApiError, notFound } from './answers.ts';
import type { Call, Services } from './operation.ts';
import { operations } from './operations.ts';
import { limitHeaders, type RateLimits } from './rate-limits.ts';
import { readBody } from './read-body.ts';
import { routerFor } from './router.ts';

const route = routerFor(operations);

export interface RestHost extends Services {
  readonly limits: RateLimits;
  onError(error: unknown): void;
}

export async function serveRest(
  host: RestHost,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const headers: Record<string, string> = {
    'X-GitHub-Request-Id': randomBytes(10).toString('hex').toUpperCase(),
    'X-GitHub-Media-Type': 'github.v3; format=json',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept, Authorization, Cookie, X-GitHub-OTP',
  };
  try {
    const answer = await answerTo(host, url, request, headers);
    write(request, response, answer, { ...headers, ...answer.headers });
  } catch (error) {
    const known = error instanceof ApiError ? error : new ApiError(500, `Server Error: ${String(error)}`);
    if (known !== error) host.onError(error);
    write(request, response, { status: known.status, json: known.body }, { ...headers, ...known.headers });
  }
}

/** Fills in the headers as far as it comes, because a refusal has them too. */
async function answerTo(
  host: RestHost,
  url: URL,
  request: IncomingMessage,
  headers: Record<string, string>,
): Promise<Answer> {
  if (!request.headers['user-agent'])
    throw new ApiError(
      403,
      'Request forbidden by administrative rules. Please make sure your request has a User-Agent header.',
    );
  const caller = callerOf(host.registry, request.headers.authorization);
  if (caller === 'refused') throw new ApiError(401, 'Bad credentials');
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET');
  const match = route(method, url.pathname.slice(apiPath.length));
  const operation = match?.operation;
  if (caller) headers['X-OAuth-Scopes'] = caller.scopes.join(', ');
  if (caller) headers['X-Accepted-OAuth-Scopes'] = operation?.scopes?.join(', ') ?? '';

  const who = caller?.token ?? request.socket.remoteAddress ?? 'nobody';
  const signedIn = caller !== undefined;
  const resource = operation?.resource ?? 'core';
  const counted = resource === 'free' ? 'core' : resource;
  const showLimits = () => Object.assign(headers, limitHeaders(host.limits.read(who, signedIn, counted)));
  showLimits();
  if (resource !== 'free') host.limits.take(who, signedIn, counted);
  showLimits();
  if (!match) throw notFound();

  const call: Call = {
    ...services(host),
    caller,
    url,
    linkPath: url.pathname,
    params: match.params,
    body: await readBody(request),
    accept: request.headers.accept ?? '',
    allowance: (each) => host.limits.read(who, signedIn, each),
  };
  const answer = await match.operation.run(call);
  if (method !== 'GET' || answer.status !== 200) return answer;
  const fresh = withValidator(answer);
  if (!matches(request.headers['if-none-match'], fresh.etag)) return fresh.answer;
  if (resource !== 'free') host.limits.giveBack(who, signedIn, counted);
  showLimits();
  return { status: 304, headers: fresh.answer.headers };
}

function services({ registry, repositories, webhooks, urls, archives }: RestHost): Services {
  return { registry, repositories, webhooks, urls, archives };
}

function bytesOf(answer: Answer): Buffer | undefined {
  if (answer.bytes) return answer.bytes;
  return answer.json === undefined ? undefined : Buffer.from(JSON.stringify(answer.json));
}

/** The same content has the same validator, so that a client may ask again for nothing. */
function withValidator(answer: Answer): { answer: Answer & Required<Pick<Answer, 'headers'>>; etag: string } {
  const bytes = bytesOf(answer) ?? Buffer.alloc(0);
  const etag = `W/"${createHash('sha256').update(bytes).digest('hex')}"`;
  const headers = { ...answer.headers, ETag: etag, 'Cache-Control': 'private, max-age=60, s-maxage=60' };
  return { answer: { ...answer, bytes, headers: { ...typeOf(answer), ...headers } }, etag };
}

function matches(sent: string | undefined, etag: string): boolean {
  if (sent === undefined) return false;
  const plain = (tag: string) => tag.trim().replace(/^W\//, '');
  return sent.trim() === '*' || sent.split(',').some((tag) => plain(tag) === plain(etag));
}

function typeOf(answer: Answer): Record<string, string> {
  if (answer.bytes) return { 'Content-Type': 'application/octet-stream' };
  return answer.json === undefined ? {} : { 'Content-Type': 'application/json; charset=utf-8' };
}

function write(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  headers: Readonly<Record<string, string>>,
): void {
  const bytes = bytesOf(answer);
  const length = bytes ? { 'Content-Length': String(bytes.length) } : {};
  response.writeHead(answer.status, { ...typeOf(answer), ...headers, ...length });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}
