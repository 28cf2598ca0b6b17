/** One attempt at an operation, and what every answer owes whoever attacks: no error of ours, nothing of the inside. */
import assert from 'node:assert/strict';
import { type Answer, callApi } from '../support/app.ts';
import { type Operation, pathWith } from './surface.ts';

/** Answers that tell of something outside, which a test without an outside must expect, with their codes. */
function isOrdinary({ status, body }: Answer): boolean {
  if (status < 500) return true;
  return (status === 502 || status === 504) && typeof body.code === 'string' && body.code !== 'internal';
}

export function whole(operation: Operation, answer: Answer): void {
  const shown = `${operation.name}: ${answer.status} ${answer.text.slice(0, 400)}`;
  assert.ok(isOrdinary(answer), shown);
  if (answer.status < 400) return;
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/, shown);
  assert.equal(typeof answer.body.code, 'string', shown);
  assert.doesNotMatch(answer.text, /node_modules|at \w+ \(|\.ts:\d+|select .* from /i, shown);
}

/** A stream would go on: its head is enough. */
export async function send(
  url: string,
  operation: Operation,
  ids: Readonly<Record<string, string>>,
  { token, body, query = '' }: { token?: string | undefined; body?: unknown; query?: string } = {},
): Promise<Answer> {
  const path = `${pathWith(operation, ids)}${query}`;
  const options = { ...(token !== undefined && { token }), ...(body !== undefined && { body }) };
  if (!operation.isStream) return callApi(url, operation.method, path, options);
  const abort = new AbortController();
  try {
    const answer = await fetch(`${url}${path.slice(1)}`, {
      method: operation.method,
      signal: abort.signal,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    if (answer.status < 300) return { status: answer.status, headers: answer.headers, body: {}, text: '' };
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: JSON.parse(text), text };
  } finally {
    abort.abort();
  }
}
