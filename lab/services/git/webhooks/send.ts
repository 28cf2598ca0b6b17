/** One signed request to a hook's address, and what came back. No redirect is followed, nothing is repeated. */
import { createHmac } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Hook } from '../state.ts';

export interface Outcome {
  readonly seconds: number;
  readonly status: string;
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly payload: string;
}

const usualLimitMs = 10_000;
const longestAnswer = 64 * 1024;

export function requestHeaders(
  hook: Hook,
  event: string,
  guid: string,
  body: Buffer,
): Record<string, string> {
  const sign = (kind: string, secret: string) =>
    `${kind}=${createHmac(kind, secret).update(body).digest('hex')}`;
  return {
    Accept: '*/*',
    'Content-Type': hook.contentType === 'json' ? 'application/json' : 'application/x-www-form-urlencoded',
    'User-Agent': 'GitHub-Hookshot/lab',
    'X-GitHub-Delivery': guid,
    'X-GitHub-Event': event,
    'X-GitHub-Hook-ID': String(hook.id),
    'X-GitHub-Hook-Installation-Target-ID': String(hook.repositoryId),
    'X-GitHub-Hook-Installation-Target-Type': 'repository',
    ...(hook.secret === null
      ? {}
      : {
          'X-Hub-Signature': sign('sha1', hook.secret),
          'X-Hub-Signature-256': sign('sha256', hook.secret),
        }),
  };
}

export function requestBody(hook: Hook, payload: unknown): Buffer {
  const json = JSON.stringify(payload);
  return Buffer.from(hook.contentType === 'json' ? json : new URLSearchParams({ payload: json }).toString());
}

/** Never rejects: that nobody answered is an outcome too. */
export async function send(
  hook: Hook,
  headers: Record<string, string>,
  body: Buffer,
  stopped: AbortSignal,
  limitMs = usualLimitMs,
): Promise<Outcome> {
  const started = performance.now();
  const timeout = AbortSignal.timeout(limitMs);
  const seconds = () => Math.round(performance.now() - started) / 1000;
  try {
    const answer = await exchange(hook, headers, body, AbortSignal.any([timeout, stopped]));
    const good = answer.statusCode >= 200 && answer.statusCode < 300;
    return {
      ...answer,
      seconds: seconds(),
      status: good ? 'OK' : `Invalid HTTP Response: ${answer.statusCode}`,
    };
  } catch (error) {
    const [status, statusCode] = timeout.aborted
      ? (['timed out', 504] as const)
      : (['failed to connect to host', 502] as const);
    const payload = error instanceof Error ? error.message : String(error);
    return { seconds: seconds(), status, statusCode, headers: {}, payload };
  }
}

function exchange(hook: Hook, headers: Record<string, string>, body: Buffer, signal: AbortSignal) {
  return new Promise<Pick<Outcome, 'statusCode' | 'headers' | 'payload'>>((resolve, reject) => {
    const secure = new URL(hook.url).protocol === 'https:';
    const options = {
      method: 'POST',
      headers: { ...headers, 'Content-Length': body.length },
      // A connection of its own: none is left open to a receiver that wants to stop.
      agent: false,
      signal,
      rejectUnauthorized: !hook.insecureSsl,
    } as const;
    const request = (secure ? httpsRequest : httpRequest)(hook.url, options, (response) => {
      readAnswer(response).then((payload) => {
        const received = Object.entries(response.headersDistinct).map(([name, values]): [string, string] => [
          name,
          (values ?? []).join(', '),
        ]);
        resolve({ statusCode: response.statusCode ?? 0, headers: Object.fromEntries(received), payload });
      }, reject);
    });
    request.once('error', reject);
    request.end(body);
  });
}

async function readAnswer(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    if (size < longestAnswer) chunks.push(chunk);
    size += chunk.length;
  }
  return Buffer.concat(chunks).subarray(0, longestAnswer).toString();
}
