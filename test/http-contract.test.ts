import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentenceOfPattern } from '../src/http/schemas.ts';
import { newId } from '../src/ids.ts';
import { currentOpenApi } from './support/openapi.ts';
import { newPerson } from './support/people.ts';
import { assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { openStream, type ReadEvent } from './support/sse.ts';

/** Each POST that is safe to send twice without a key, and why. */
const withoutKey: Readonly<Record<string, string>> = {
  '/auth/register': 'answers the same for an address that is there',
  '/auth/verify-otp': 'a code is good once',
  '/auth/resend-otp': 'belongs to no workspace, and is limited',
  '/auth/login': 'belongs to no workspace',
  '/auth/refresh': 'a refresh token is good once',
  '/auth/logout': 'ends something',
  '/auth/forgot-password': 'belongs to no workspace, and is limited',
  '/auth/reset-password': 'a link is good once',
  '/auth/confirm': 'belongs to no workspace, and the second says the same',
  '/auth/confirm/challenge': 'a challenge is good once, for minutes, and must not be stored',
  '/auth/login/second-factor': 'a challenge is good once',
  '/auth/login/device-code': 'a device code is good once',
  '/auth/device-codes': 'belongs to no workspace; the codes are secrets, and must not be stored',
  '/auth/device-codes/verify': 'looks, and changes nothing',
  '/auth/device-codes/answer': 'belongs to no workspace, and an answer is given once',
  '/auth/oidc/begin': 'only leads to the provider',
  '/auth/oidc/confirm': 'only leads to the provider',
  '/auth/oidc/link': 'only leads to the provider',
  '/auth/passkeys': 'a challenge is good once',
  '/auth/passkeys/options': 'a challenge is good once, for minutes, and must not be stored',
  '/auth/recovery-codes': 'shown once, and must not be stored; the second replaces the first',
  '/auth/totp': 'shown once, and must not be stored; the second replaces the first',
  '/auth/totp/confirm': 'a code is good once',
  '/workspaces': 'belongs to no workspace yet; its maker sees and deletes what is too much',
  '/invitations/accept': 'an invitation is good once',
  '/installation/test-mail': 'belongs to no workspace, and is limited',
  '/auth/stream-ticket': 'a ticket is good once, for seconds, and must not be stored',
  '/operations/{id}/cancel': 'ends something',
  '/environments/{id}/deployments/{did}/cancel': 'ends something',
  '/servers/test-connection': 'looks, and changes nothing',
  '/domains/{id}/verify': 'looks; the same look twice ends the same',
  '/notification-recipients/answer': 'a link is good once',
  '/webhooks/git/{provider}/{hookId}': 'providers name their deliveries, and each is taken once',
};

const document = currentOpenApi().then((text) => JSON.parse(text));

/** All patterns in a schema, wherever they are. */
function* patternsIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  const { pattern, patternProperties } = Object(value);
  if (typeof pattern === 'string') yield pattern;
  yield* Object.keys(Object(patternProperties));
  for (const each of Object.values(value)) yield* patternsIn(each);
}

test('every pattern of the document has a sentence for people, with an example', async () => {
  const patterns = new Set(patternsIn(await document));
  assert.ok(patterns.size > 15, `${patterns.size} patterns`);
  for (const pattern of patterns) {
    const sentence = sentenceOfPattern(pattern) ?? assert.fail(`${pattern} is told to nobody in words`);
    assert.match(sentence, /^must (be|not) /);
    assert.ok(!sentence.includes(pattern) && !/[\^$]|\\p/.test(sentence), sentence);
  }
});

test('every POST that creates or starts something takes an Idempotency-Key', async () => {
  const described = await document;
  const resolved = (value: unknown): unknown => {
    const { $ref } = Object(value);
    if (typeof $ref !== 'string') return value;
    return $ref
      .slice(2)
      .split('/')
      .reduce((found, part) => Object(found)[part], described);
  };
  const without: string[] = [];
  for (const [path, methods] of Object.entries(described.paths)) {
    const { post } = Object(methods);
    if (!post) continue;
    const answers = Object.values(Object(post.responses)).map((each) => JSON.stringify(resolved(each)));
    if (!answers.some((each) => each.includes('idempotency_mismatch')))
      without.push(path.replace('/api/v1', ''));
  }
  assert.deepEqual(without.sort(), Object.keys(withoutKey).sort());
});

test('an answer that is told as it happens has positions, kinds and times, and says that it is over', async () => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  const body = { name: 'web-1', host: '127.0.0.1', port: 1, auth: { type: 'generated' } };
  const url = `${service.url}/api/v1/servers/test-connection`;
  const reader = await openStream(url, { token, post: JSON.stringify(body) });
  const events: ReadEvent[] = [];
  for await (const event of reader.events()) events.push(event);
  assert.deepEqual(
    events.map(({ id, event }) => [id, event]),
    [
      [1, 'step'],
      [2, 'step'],
      [3, 'result'],
      [4, 'end'],
    ],
  );
  for (const { event, data } of events) {
    assert.equal(data.kind, event);
    assert.equal(new Date(String(data.at)).toISOString(), data.at);
  }
});

test('what was no hardening of the server cannot be undone, and that is told at once', async () => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  const body = { name: 'web-1', host: '127.0.0.1', port: 1, auth: { type: 'generated' } };
  const { body: server } = await service.call('POST', '/servers', { token, body });
  const undo = (serverId: unknown, operationId: unknown) =>
    service.call('POST', `/servers/${serverId}/security/undo`, { token, body: { operationId } });
  assertProblem(await undo(server.id, newId()), 404, 'not_found');
  assertProblem(await undo(newId(), newId()), 404, 'not_found');
  const { body: provision } = await service.call('POST', `/servers/${server.id}/provision`, { token });
  const other = await undo(server.id, provision.id);
  assertProblem(other, 404, 'not_found');
  assert.match(other.text, /server_provision/);
  const { body: after } = await service.call('GET', '/operations', { token });
  assert.equal(
    Object(after.items).some(({ kind }: { kind: string }) => kind === 'server_undo_hardening'),
    false,
  );
});
