/** What every error of the API must look like, whoever made it. */
import assert from 'node:assert/strict';
import type { Answer } from './app.ts';

const always = ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'];

export function assertProblem(
  answer: Pick<Answer, 'status' | 'headers' | 'text'>,
  status: number,
  code: string,
): void {
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json(;|$)/);
  const problem = Object(JSON.parse(answer.text));
  for (const field of always) assert.ok(field in problem, `${field} is missing in ${answer.text}`);
  assert.equal(problem.status, status);
  assert.equal(problem.code, code);
  assert.equal(problem.type, `urn:slipway:problem:${code}`);
  assert.notEqual(problem.detail, '');
  assert.notEqual(problem.requestId, '');
}

/** Invalid input that names exactly these fields. */
export function assertInvalid(answer: Answer, ...paths: string[]): void {
  assertProblem(answer, 400, 'invalid_input');
  assert.deepEqual(errorPaths(answer).sort(), [...paths].sort(), answer.text);
}

export function errorPaths(answer: Answer): string[] {
  const { errors } = answer.body;
  return Array.isArray(errors) ? errors.map((each) => String(Object(each).path)) : [];
}
