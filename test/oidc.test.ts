import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from '../src/store/sql.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { Browser, type ProviderClaims, RealProvider, settingsFor } from './support/oidc.ts';
import { newEmail, newPerson, type Person, text } from './support/people.ts';
import { assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { login, minutes, newPassword, post, resetTokenFor } from './support/steps.ts';
import { newTeam, type Team } from './support/workspaces.ts';

let provider: RealProvider;
before(async () => {
  provider = await RealProvider.start();
});
after(() => provider.stop());

async function scene(more: Record<string, string> = {}): Promise<TestApp> {
  const service = await sharedTestApp(settingsFor(provider.issuer, more));
  await provider.serve(service.url);
  return service;
}

let people = 0;
function somebody(more: Record<string, unknown> = {}): ProviderClaims & { email: string } {
  people += 1;
  return { sub: `person-${people}`, email: newEmail(), email_verified: true, name: 'Ada', ...more };
}

/** As a person does it: the button, the provider's page, and back. */
async function signIn(
  service: TestApp,
  who: ProviderClaims,
  { browser = new Browser(), returnTo = '/healthz' } = {},
) {
  provider.person = who;
  const begin = `${service.url}/api/v1/auth/oidc/begin?returnTo=${encodeURIComponent(returnTo)}`;
  const page = await browser.go(begin);
  return { page, browser };
}

/** The profile behind the cookie that a browser has got. */
async function userOf(service: TestApp, browser: Browser) {
  const jar = browser.cookies.get(service.url) ?? new Map();
  const cookie = `slipway_refresh=${jar.get('slipway_refresh')}`;
  const answer = await post(service, '/auth/refresh', {}, { cookie });
  assert.equal(answer.status, 200, answer.text);
  const refreshed = /slipway_refresh=([^;]+)/.exec(answer.headers.getSetCookie().join('\n'))?.[1];
  jar.set('slipway_refresh', refreshed);
  return { token: text(answer.body.accessToken), user: Object(answer.body.user) };
}

/** Begun by the owner, signed in here; finished at the provider. */
async function linkAs(service: TestApp, token: string, who: ProviderClaims, what = 'link') {
  const browser = new Browser();
  const begun = await service.call('POST', `/auth/oidc/${what}`, { token, body: { returnTo: '/healthz' } });
  assert.equal(begun.status, 200, begun.text);
  const [pair = ''] = (begun.headers.getSetCookie()[0] ?? '').split(';');
  const [name = '', value = ''] = pair.split('=');
  browser.cookies.set(service.url, new Map([[name, value]]));
  provider.person = who;
  return browser.go(text(begun.body.url));
}

async function auditOf(service: TestApp, token: string, workspaceId: string, action: string) {
  const answer = await service.call('GET', `/audit?action=${action}`, {
    token,
    headers: { 'slipway-workspace': workspaceId },
  });
  assert.equal(answer.status, 200, answer.text);
  return Array.from(Object(answer.body.items)).map((each) => Object(each));
}

test('whether it is on is told to everybody, and where it is off nothing of it works', async (t) => {
  const service = await scene();
  assert.deepEqual((await service.call('GET', '/auth/oidc')).body, { enabled: true, name: 'Example SSO' });
  const without = await startTestApp(t);
  assert.deepEqual((await without.call('GET', '/auth/oidc')).body, { enabled: false, name: null });
  const { token } = await newPerson(without);
  assertProblem(await without.call('GET', '/auth/oidc/begin'), 404, 'not_found');
  assertProblem(await without.call('GET', '/auth/oidc/callback?state=x&code=y'), 404, 'not_found');
  assertProblem(await without.call('POST', '/auth/oidc/begin', { body: {} }), 404, 'not_found');
  assertProblem(await without.call('POST', '/auth/oidc/link', { token, body: {} }), 404, 'not_found');
});

test('a first sign-in makes an account with a workspace, and later ones find it by issuer and subject', async () => {
  const service = await scene();
  const ada = somebody();
  const first = await signIn(service, ada);
  assert.deepEqual([first.page.status, first.page.address.pathname], [200, '/healthz'], first.page.text);
  const { user, token } = await userOf(service, first.browser);
  assert.deepEqual([user.email, user.name, user.workspaces.length], [ada.email, 'Ada', 1]);
  const cookies = first.browser.cookies.get(service.url);
  assert.ok(cookies?.has('slipway_device') && !cookies.has('slipway_oidc'), [...(cookies ?? [])].join());

  // With another address there: it is who it was, and its address here stays.
  const again = await signIn(service, { ...ada, email: newEmail(), name: 'Grace' });
  const later = await userOf(service, again.browser);
  assert.deepEqual([later.user.id, later.user.email, later.user.name], [user.id, ada.email, 'Ada']);
  const entries = await auditOf(service, token, user.workspaces[0].id, 'signIn');
  assert.equal(entries.length, 2);

  const link = await service.call('GET', '/auth/oidc/link', { token });
  assert.equal(Object(link.body.linked).isOnlyWayIn, true);
  assertProblem(await service.call('DELETE', '/auth/oidc/link', { token }), 409, 'last_way_in');
  // With a password it is not the only way any more. That ends all sessions.
  const reset = await resetTokenFor(service, ada.email);
  const password = newPassword();
  assert.equal((await post(service, '/auth/reset-password', { token: reset, password })).status, 204);
  const own = text((await login(service, { email: ada.email, password })).body.accessToken);
  assert.equal((await service.call('DELETE', '/auth/oidc/link', { token: own })).status, 204);
  assertProblem(await service.call('DELETE', '/auth/oidc/link', { token: own }), 404, 'not_found');
  assert.deepEqual((await service.call('GET', '/auth/oidc/link', { token: own })).body, { linked: null });
});

test('the keys of the provider may be rotated between two sign-ins', async () => {
  const service = await scene();
  const ada = somebody();
  await signIn(service, ada);
  await provider.serve();
  const { page } = await signIn(service, ada);
  assert.deepEqual([page.status, page.address.pathname], [200, '/healthz'], page.text);
});

test('an account that exists by password is not taken over: its owner links it, signed in and proven', async () => {
  const service = await scene();
  const owner = await newPerson(service);
  const ada = somebody({ email: owner.email.toUpperCase() });
  const refused = await signIn(service, ada);
  assert.equal(refused.page.status, 409);
  assert.match(refused.page.text, /An account with your address is here already/);
  assert.ok(!refused.browser.cookies.get(service.url)?.has('slipway_refresh'));

  assert.equal((await linkAs(service, owner.token, ada)).status, 200);
  assert.match((await service.mailbox.next(owner.email)).subject, /was linked/);
  const { browser } = await signIn(service, ada);
  const { user, token } = await userOf(service, browser);
  assert.equal(user.id, owner.accountId);
  const [entry] = await auditOf(service, owner.token, user.workspaces[0].id, 'linkOidc');
  assert.deepEqual(entry?.changes.asked, { issuer: provider.issuer, subject: ada.sub });

  // Neither a second one for the account, nor the same for another.
  assert.equal((await linkAs(service, owner.token, somebody())).status, 409);
  const other = await newPerson(service);
  assert.equal((await linkAs(service, other.token, ada)).status, 409);
  assert.deepEqual((await service.call('GET', '/auth/oidc/link', { token: other.token })).body, {
    linked: null,
  });
  service.clock.advance(11 * minutes);
  const path = '/auth/oidc/link';
  const asked = (token_: string) => service.call('POST', path, { token: token_, body: {} });
  assertProblem(await asked(owner.token), 403, 'fresh_proof_required');
  assertProblem(await service.call('DELETE', path, { token }), 403, 'fresh_proof_required');
  // As a password would, a new sign-in there proves who it is; one as somebody else does not.
  assert.equal((await linkAs(service, token, somebody(), 'confirm')).status, 401);
  assertProblem(await asked(token), 403, 'fresh_proof_required');
  assert.equal((await linkAs(service, token, ada, 'confirm')).status, 200);
  assert.equal((await service.call('DELETE', path, { token })).status, 204);
  assert.equal((await signIn(service, ada)).page.status, 409);
});

test('registration rules hold: closed to strangers, open to the first one and to whoever was invited', async (t) => {
  const service = await startTestApp(t, {
    env: settingsFor(provider.issuer, { SLIPWAY_REGISTRATION: 'first' }),
  });
  await provider.serve(service.url);
  const first = await signIn(service, somebody());
  const { token, user } = await userOf(service, first.browser);
  assert.equal((await service.call('GET', '/installation', { token })).status, 200);
  const refused = await signIn(service, somebody());
  assert.equal(refused.page.status, 403);
  assert.match(refused.page.text, /takes no others by itself/);

  const invited = somebody();
  const workspaceId = text(user.workspaces[0].id);
  const sent = await service.call('POST', `/workspaces/${workspaceId}/invitations`, {
    token,
    body: { email: invited.email, role: 'viewer' },
  });
  assert.equal(sent.status, 201, sent.text);
  let invitation = await service.mailbox.invitationToken(invited.email);
  const come = async (who: ProviderClaims) => {
    const browser = new Browser();
    const begun = await post(service, '/auth/oidc/begin', { invitation, returnTo: '/healthz' });
    assert.equal(begun.status, 200, begun.text);
    const [, value = ''] = /slipway_oidc=([^;]+)/.exec(begun.headers.getSetCookie().join()) ?? [];
    browser.cookies.set(service.url, new Map([['slipway_oidc', value]]));
    provider.person = who;
    return { browser, page: await browser.go(text(begun.body.url)) };
  };
  // Without it, and with it but another address.
  assert.equal((await signIn(service, invited)).page.status, 403);
  assert.equal((await come(somebody())).page.status, 403);
  const joined = await come(invited);
  assert.equal(joined.page.status, 200, joined.page.text);
  const member = await userOf(service, joined.browser);
  assert.deepEqual(
    member.user.workspaces.map(({ id, role }: { id: string; role: string }) => [id, role]),
    [[workspaceId, 'viewer']],
  );
  const accounts = await service.app.store.db.rows(sql`select 1 from accounts`);
  assert.equal(accounts.length, 2);

  // Whoever has an account already joins by it, too, by the address of the account here.
  const other = await service.call('POST', '/workspaces', { token, body: { name: 'Second' } });
  assert.equal(other.status, 201, other.text);
  const second = `/workspaces/${text(other.body.id)}/invitations`;
  const body = { email: invited.email, role: 'member' };
  assert.equal((await service.call('POST', second, { token, body })).status, 201);
  invitation = await service.mailbox.invitationToken(invited.email);
  const again = await come({ ...invited, email: newEmail() });
  assert.equal(again.page.status, 200, again.page.text);
  assert.equal((await userOf(service, again.browser)).user.workspaces.length, 2);
  assert.equal((await come(invited)).page.status, 200, 'the invitation was taken: they just sign in');
});

async function rolesOf(service: TestApp, accountId: string, team: Team): Promise<string | undefined> {
  const members = await service.call('GET', `/workspaces/${team.workspaceId}/members`, {
    token: team.owner.token,
  });
  const items: { account: { id: string }; role: string }[] = Object(members.body.items);
  return items.find(({ account }) => account.id === accountId)?.role;
}

test('groups give roles at each sign-in and take them away, and touch nothing that was given by hand', async (t) => {
  const base = await startTestApp(t);
  const teams = [await newTeam(base), await newTeam(base), await newTeam(base)] as const;
  const [one, two, three] = teams;
  const roles = {
    'team, platform': { [one.workspaceId]: 'admin', [two.workspaceId]: 'viewer' },
    developers: { [one.workspaceId]: 'member' },
    owners: { [one.workspaceId]: 'owner' },
    gone: { '01a1df82-0000-7000-8000-000000000000': 'owner' },
    hand: { [three.workspaceId]: 'viewer' },
  };
  const env = settingsFor(provider.issuer, {
    SLIPWAY_OIDC_ROLES: JSON.stringify(roles),
    SLIPWAY_OIDC_ACCOUNTS: 'groups',
    SLIPWAY_REGISTRATION: 'closed',
  });
  const service = await startTestApp(t, { env, beside: base });
  await provider.serve(service.url);
  // What is mistyped is said, at the start and where whoever looks after the installation reads it.
  const unknown = { workspaceId: '01a1df82-0000-7000-8000-000000000000', groups: ['gone'] };
  const [warning, ...others] = service.logLines.filter(({ msg }) =>
    String(msg).includes('SLIPWAY_OIDC_ROLES'),
  );
  assert.deepEqual(
    [warning?.level, warning?.workspaceId, warning?.groups, others],
    ['warn', ...Object.values(unknown), []],
  );
  const seen = await service.call('GET', '/installation', { token: one.owner.token });
  assert.deepEqual(seen.body.oidc, { issuer: provider.issuer, unknownWorkspaces: [unknown] });

  assert.equal((await signIn(service, somebody({ groups: ['others'] }))).page.status, 403);
  assert.equal((await signIn(service, somebody({ groups: ['gone'] }))).page.status, 403);

  const ada = somebody();
  const as = async (...groups: string[]) => {
    const { page, browser } = await signIn(service, { ...ada, groups });
    assert.equal(page.status, 200, page.text);
    const { user } = await userOf(service, browser);
    const found = [];
    for (const team of teams) found.push(await rolesOf(service, user.id, team));
    return { found, accountId: text(user.id) };
  };
  const { found, accountId } = await as('developers', 'team, platform');
  assert.deepEqual(found, ['admin', 'viewer', undefined], 'the highest, and no workspace of their own');
  assert.deepEqual((await as('developers')).found, ['member', undefined, undefined]);
  const entries = await auditOf(service, one.owner.token, one.workspaceId, 'setGroupRole');
  assert.deepEqual(
    entries.map(({ changes, actor }) => [actor.kind, changes.before.role, changes.asked.role]),
    [
      ['service', 'admin', 'member'],
      ['service', null, 'admin'],
    ],
  );

  // By hand: neither changed nor taken away.
  const { db } = service.app.store;
  await db.run(sql`
    insert into memberships (workspace_id, account_id, role, created_at)
    values (${three.workspaceId}, ${accountId}, 'admin', now())`);
  assert.deepEqual((await as('developers', 'hand')).found, ['member', undefined, 'admin']);
  const change = { token: one.owner.token, body: { role: 'viewer' } };
  const path = `/workspaces/${one.workspaceId}/members/${accountId}`;
  assert.equal((await service.call('PATCH', path, change)).status, 200);
  assert.deepEqual((await as('team, platform')).found, ['viewer', 'viewer', 'admin']);
  assert.deepEqual((await as()).found, ['viewer', undefined, 'admin']);

  // The last owner stays, though the group is gone; with another one beside, it goes.
  assert.equal((await service.call('DELETE', path, { token: one.owner.token })).status, 204);
  assert.deepEqual((await as('owners')).found[0], 'owner');
  await db.run(sql`
    update memberships set role = 'admin'
    where workspace_id = ${one.workspaceId} and account_id = ${one.owner.accountId}`);
  assert.deepEqual((await as()).found[0], 'owner');
  await db.run(sql`
    update memberships set role = 'owner'
    where workspace_id = ${one.workspaceId} and account_id = ${one.owner.accountId}`);
  assert.deepEqual((await as()).found[0], undefined);
});

test('what groups gave goes with the link', async (t) => {
  const base = await startTestApp(t);
  const team = await newTeam(base);
  const roles = JSON.stringify({ developers: { [team.workspaceId]: 'member' } });
  const env = settingsFor(provider.issuer, { SLIPWAY_OIDC_ROLES: roles });
  const service = await startTestApp(t, { env, beside: base });
  await provider.serve(service.url);
  const person: Person = await newPerson(service);
  const who = somebody({ groups: ['developers'] });
  assert.equal((await linkAs(service, person.token, who)).status, 200);
  assert.equal((await signIn(service, who)).page.status, 200);
  assert.equal(await rolesOf(service, person.accountId, team), 'member');
  assert.equal((await service.call('DELETE', '/auth/oidc/link', { token: person.token })).status, 204);
  assert.equal(await rolesOf(service, person.accountId, team), undefined);
});

test('an address that is not confirmed, missing, or of another domain makes no account', async () => {
  const service = await scene({ SLIPWAY_OIDC_EMAIL_DOMAINS: 'example.com' });
  const cases: [Record<string, unknown>, RegExp][] = [
    [{ email_verified: false }, /does not say that your e-mail address is confirmed/],
    [{ email_verified: undefined }, /does not say that your e-mail address is confirmed/],
    [{ email_verified: 'true' }, /does not say that your e-mail address is confirmed/],
    [{ email: undefined }, /gives no e-mail address/],
    [{ email: 'not an address' }, /gives no e-mail address/],
    [{ email: `x@example.org` }, /Addresses of example.org are not let in/],
    [{ email: `x@sub.example.com` }, /Addresses of sub.example.com are not let in/],
  ];
  for (const [more, sentence] of cases) {
    const { page, browser } = await signIn(service, somebody(more));
    assert.equal(page.status, 403, JSON.stringify(more));
    assert.match(page.text, sentence);
    assert.ok(!browser.cookies.get(service.url)?.has('slipway_refresh'));
  }
  // Whoever moves to another domain is not let in any more, though linked.
  const ada = somebody();
  assert.equal((await signIn(service, ada)).page.status, 200);
  assert.equal((await signIn(service, { ...ada, email: 'x@example.org' })).page.status, 403);
  const trusting = await scene({ SLIPWAY_OIDC_TRUST_EMAIL: 'on' });
  assert.equal((await signIn(trusting, somebody({ email_verified: undefined }))).page.status, 200);
  assert.equal((await signIn(trusting, somebody({ email_verified: false }))).page.status, 403);
});

test('with accounts set to none, only whom owners have linked sign in', async () => {
  const service = await scene({ SLIPWAY_OIDC_ACCOUNTS: 'none' });
  const who = somebody();
  assert.equal((await signIn(service, who)).page.status, 403);
  const owner = await newPerson(service);
  assert.equal((await linkAs(service, owner.token, who)).status, 200);
  assert.equal((await signIn(service, who)).page.status, 200);
});

test('what the provider refuses is told, with its word and no sentence of its own', async () => {
  const service = await scene();
  provider.refusal = 'access_denied';
  const { page } = await signIn(service, somebody());
  provider.refusal = undefined;
  assert.equal(page.status, 403);
  assert.match(page.text, /did not sign you in: access_denied/);
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
});
