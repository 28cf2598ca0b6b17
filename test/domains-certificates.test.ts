import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renewDueCertificates } from '../src/areas/domains/domain-schedules.ts';
import { day } from '../src/clock.ts';
import { sql } from '../src/store/sql.ts';
import { Workshop } from './support/certificate-workshop.ts';
import { type DomainScene, startDomainScene } from './support/domains.ts';
import { assertInvalid, assertProblem, errorPaths } from './support/problems.ts';
import { placesThatHold } from './support/secret-search.ts';

const shop = new Workshop();
const root = shop.make('Root', { isAuthority: true });
const middle = shop.make('Middle', { isAuthority: true, by: root });
const leafFor = (...names: string[]) =>
  shop.make('leaf', { names: names.map((name) => `DNS:${name}`), by: middle, usage: 'serverAuth' });

const keptIn = ({ service, workspaceId }: DomainScene) =>
  service.app.store.db.rows(sql`
    select id from certificates where workspace_id = ${workspaceId}
    union all select id from environment_domains where workspace_id = ${workspaceId}`);

async function startNamed(t: Parameters<typeof startDomainScene>[0]) {
  const scene = await startDomainScene(t);
  const { ask, environmentId } = scene;
  await scene.verified(ask, scene.apex);
  const hostname = `app.${scene.apex}`;
  const leaf = leafFor(hostname, `www.${hostname}`);
  const good = leaf.pem + middle.pem;
  const { clock } = scene.service;
  const give = (certificate: string | undefined, privateKey: string | undefined, more: object = {}) => {
    // The clock of the instance stands still: what was made since would be of its future.
    clock.advance(Math.max(0, Date.now() - clock.now().getTime()));
    return ask('POST', `/environments/${environmentId}/domain`, {
      hostname,
      ...more,
      ssl: { mode: 'custom', certificate, privateKey },
    });
  };
  return { ...scene, hostname, leaf, good, give, kept: () => keptIn(scene) };
}

/** A line from the middle of a key: the first ones are the same in all. */
const inside = (key: string) => key.split('\n').at(-3) ?? '';

test('a certificate of one’s own that would not serve is refused with its field, and nothing is kept', async (t) => {
  const { give, kept, hostname, apex, leaf, good } = await startNamed(t);
  const foreign = leafFor(`other.${apex}`);
  const single = leafFor(hostname);
  const encrypted = shop.openssl(
    ...['pkcs8', '-topk8', '-in', shop.file('plain.key', leaf.key), '-passout', 'pass:geheim'],
  );
  const wrong: [string, string, string][] = [
    [good, foreign.key, 'ssl.privateKey'],
    [good, encrypted, 'ssl.privateKey'],
    [good, 'no key', 'ssl.privateKey'],
    [foreign.pem + middle.pem, foreign.key, 'ssl.certificate'],
    [leaf.pem + root.pem, leaf.key, 'ssl.certificate'],
    ['no certificate', leaf.key, 'ssl.certificate'],
    [`${good}${leaf.key}`, leaf.key, 'ssl.certificate'],
  ];
  for (const [certificate, key, path] of wrong) {
    const answer = await give(certificate, key);
    assertProblem(answer, 422, 'certificate_invalid');
    assert.ok(errorPaths(answer).includes(path), answer.text);
    assert.ok(!answer.text.includes(inside(leaf.key)), 'a key is never told');
  }
  const partner = await give(single.pem + middle.pem, single.key, { www: 'redirect_to_www' });
  assertProblem(partner, 422, 'certificate_invalid');
  assertInvalid(await give(undefined, leaf.key), 'ssl.certificate');
  assertInvalid(await give(good, undefined), 'ssl.privateKey');
  assert.deepEqual(await kept(), []);
});

test('an expired certificate is refused', async (t) => {
  const scene = await startNamed(t);
  const { clock, app } = scene.service;
  // The clock of the area alone: the token would have run out as well.
  Object.assign(app.contexts.domains, { clock: { now: () => new Date(clock.now().getTime() + 91 * day) } });
  t.after(() => void Object.assign(app.contexts.domains, { clock }));
  const answer = await scene.give(scene.good, scene.leaf.key);
  assertProblem(answer, 422, 'certificate_invalid');
  assert.deepEqual([...new Set(errorPaths(answer))], ['ssl.certificate']);
  assert.deepEqual(await scene.kept(), []);
});

test('the key of a certificate of one’s own is never given back, and lies sealed', async (t) => {
  const { give, ask, service, environmentId, workspaceId, hostname, leaf, good } = await startNamed(t);
  const next = leafFor(hostname, `www.${hostname}`);
  const taken = await give(good, leaf.key, { www: 'redirect_to_apex' });
  assert.equal(taken.status, 200, taken.text);
  const { status, issuer, notAfter, fault } = Object(taken.body.certificate);
  assert.deepEqual([status, issuer, fault], ['issued', 'Test Middle', null]);
  assert.ok(Date.parse(notAfter) > Date.now() + 80 * day);
  assert.equal(taken.body.url, `https://${hostname}`);
  const { id } = taken.body;
  for (const path of [
    `/environments/${environmentId}/domains`,
    `/environments/${environmentId}/domains/${id}`,
    `/environments/${environmentId}`,
  ])
    assert.ok(!(await ask('GET', path)).text.includes(inside(leaf.key)));
  assert.deepEqual(await placesThatHold(service, inside(leaf.key)), []);
  assert.notDeepEqual(await placesThatHold(service, inside(leaf.pem)), [], 'the search finds what is there');

  const replaced = await give(next.pem + middle.pem, next.key);
  assert.equal(replaced.body.id, id, replaced.text);
  const rows = () =>
    service.app.store.db.rows<{ source: string; status: string; chain: string; renewAt: Date | null }>(sql`
      select source, status, chain, renew_at as "renewAt" from certificates
      where workspace_id = ${workspaceId}`);
  assert.deepEqual(await rows(), [
    { source: 'custom', status: 'issued', chain: next.pem + middle.pem, renewAt: null },
  ]);
  const path = `/environments/${environmentId}/domain`;
  const auto = await ask('POST', path, { hostname });
  assert.equal(Object(auto.body.certificate).status, 'pending');
  assert.equal(auto.body.url, `https://${hostname}`, 'what it had serves until the next is there');
  const [row] = await rows();
  assert.deepEqual([row?.source, row?.chain], ['acme', next.pem + middle.pem]);
});

test('a certificate near its end is told of once', async (t) => {
  const { give, service, workspaceId, leaf, good } = await startNamed(t);
  assert.equal((await give(good, leaf.key)).status, 200);
  const { contexts, store } = service.app;
  const told = () =>
    store.db.rows(
      sql`select 1 from events where workspace_id = ${workspaceId} and data->>'status' = 'expiring'`,
    );
  await renewDueCertificates(contexts.domains);
  assert.equal((await told()).length, 0);
  service.clock.advance(77 * day);
  await renewDueCertificates(contexts.domains);
  await renewDueCertificates(contexts.domains);
  assert.equal((await told()).length, 1);
});
