/** Every operation of the document, from a session that was left alone: what it declares is what it asks for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/store/sql.ts';
import type { TestApp } from '../support/app.ts';
import { type Person, text } from '../support/people.ts';
import { assertProblem } from '../support/problems.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { minutes } from '../support/steps.ts';
import { newTeam } from '../support/workspaces.ts';
import { send } from './send.ts';
import { isObject, type Json, type Operation, surfaceOf } from './surface.ts';

const none = '01a1df82-0000-7000-8000-000000000000';

/** Whoever takes one away from here says with it why a screen that was left alone may be enough. */
const asked: Readonly<Record<string, Operation['fresh']>> = {
  // Secrets: the data of an environment, and what lets somebody in later.
  downloadBackup: true,
  createRecoveryCodes: true,
  createApiToken: { abilities: ['manage', 'read_secrets'] },
  answerDeviceCode: { allow: [true] },
  // The protection of an account.
  startTotp: true,
  verifyTotp: true,
  deleteTotp: true,
  startPasskey: true,
  createPasskey: true,
  deletePasskey: true,
  startOidcLink: true,
  deleteOidcLink: true,
  // Of a workspace, and its end.
  updateWorkspace: { requiresSecondFactor: [true, false] },
  updateMember: { role: ['owner', 'admin'] },
  createInvitation: { role: ['owner', 'admin'] },
  deleteWorkspace: true,
  // Of the installation.
  updateInstallation: true,
};

/** Owns the workspace and looks after the installation, so that nothing is refused for the role. */
async function scene() {
  const service = await sharedTestApp();
  const { owner, workspaceId } = await newTeam(service);
  await service.app.store.db.run(sql`update accounts set operator = true where id = ${owner.accountId}`);
  const operations = surfaceOf().filter(({ path, isPublic }) => path.startsWith('/api/') && !isPublic);
  return { service, owner, workspaceId, operations };
}

function ask(service: TestApp, workspaceId: string, { token }: Person, operation: Operation, body?: Json) {
  const isWorkspace = operation.path.startsWith('/api/v1/workspaces/{id}');
  const ids = { id: isWorkspace ? workspaceId : none, accountId: none, repo: 'ada/none', key: 'NONE' };
  return send(service.url, operation, ids, { token, ...(body !== undefined && { body }) });
}

/** A body that is right but for this value. */
function withField(operation: Operation, field: string, value: Json): Json {
  const least = operation.least.find((each) => isObject(each) && field in each) ?? operation.example ?? {};
  const isList = isObject(least) && Array.isArray(least[field]);
  return isObject(least) ? { ...least, [field]: isList ? [value] : value } : least;
}

test('what asks for a fresh proof is declared, and nothing else is', async () => {
  const { operations } = await scene();
  const declared = operations.flatMap(({ name, fresh }) => (fresh === undefined ? [] : [[name, fresh]]));
  const sorted = (rules: Iterable<readonly [PropertyKey, unknown]>) =>
    Object.fromEntries(Object.entries(Object.fromEntries(rules)).sort());
  assert.deepEqual(sorted(declared as [string, unknown][]), sorted(Object.entries(asked)));
});

test('a session that was left alone is asked for a proof by these calls, and by no others', async () => {
  const { service, owner, workspaceId, operations } = await scene();
  service.clock.advance(11 * minutes);
  let tried = 0;
  for (const operation of operations) {
    const { name, fresh } = operation;
    // It would end the session that asks.
    if (name === 'logout') continue;
    if (fresh === true)
      assertProblem(
        await ask(service, workspaceId, owner, operation, operation.example),
        403,
        'fresh_proof_required',
      );
    else if (fresh) {
      for (const [field, values] of Object.entries(fresh))
        for (const value of values) {
          const answer = await ask(
            service,
            workspaceId,
            owner,
            operation,
            withField(operation, field, value),
          );
          assertProblem(answer, 403, 'fresh_proof_required');
        }
    } else {
      // Nothing that is there, and no body: what is allowed does nothing either.
      const answer = await ask(service, workspaceId, owner, operation);
      assert.notEqual(answer.body.code, 'fresh_proof_required', name);
    }
    tried += 1;
  }
  assert.ok(tried > 100, String(tried));
});

test('what a call may say without a proof is taken without one', async () => {
  const { service, owner, workspaceId } = await scene();
  service.clock.advance(11 * minutes);
  const call = (method: string, path: string, body: object) =>
    service.call(method, path, { token: owner.token, body });
  const base = `/workspaces/${workspaceId}`;
  const named = await call('PATCH', base, { name: 'Shop team' });
  assert.equal(named.status, 200, named.text);
  const invited = await call('POST', `${base}/invitations`, { email: 'grace@example.com', role: 'member' });
  assert.equal(invited.status, 201, invited.text);
  const made = await call('POST', '/api-tokens', { name: 'CI', abilities: ['deploy'] });
  assert.equal(made.status, 201, made.text);
  const both = { name: 'CI', abilities: ['deploy', 'manage'] };
  assertProblem(await call('POST', '/api-tokens', both), 403, 'fresh_proof_required');
  // Refused as a whole: the name stays, too.
  assertProblem(
    await call('PATCH', base, { name: 'Other', requiresSecondFactor: false }),
    403,
    'fresh_proof_required',
  );
  const read = await service.call('GET', base, { token: owner.token });
  assert.equal(read.body.name, 'Shop team');

  const proof = { password: owner.password };
  assert.equal((await call('POST', '/auth/confirm', proof)).status, 204);
  const token = await call('POST', '/api-tokens', both);
  assert.equal(token.status, 201, token.text);
  // A token is its own proof, and does not grow old.
  service.clock.advance(30 * minutes);
  const byToken = await service.call('POST', `${base}/invitations`, {
    token: text(token.body.token),
    body: { email: 'joan@example.com', role: 'admin' },
  });
  assert.equal(byToken.status, 201, byToken.text);
});
