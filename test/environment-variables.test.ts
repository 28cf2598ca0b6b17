import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openVariables } from '../src/areas/environments/variables/open-variables.ts';
import { sql } from '../src/store/sql.ts';
import { startEnvironmentScene } from './support/environments.ts';
import { assertInvalid, assertProblem } from './support/problems.ts';

test('a secret variable is never shown again, and any other is', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, environmentId, service, workspaceId } = scene;
  const path = `/environments/${environmentId}/variables`;
  const variables = [
    { key: 'API_KEY', value: 'canary-2718' },
    { key: 'MODE', value: 'fast', secret: false, target: 'runtime' },
  ];
  const said = await ask('POST', path, { variables });
  assert.equal(said.status, 200, said.text);
  assert.equal(said.body.needs, 'nothing', 'nothing was deployed that it would change');
  const updatedAt = service.clock.now().toISOString();
  const shown = [
    { key: 'API_KEY', value: null, secret: true, target: 'both', updatedAt },
    { key: 'MODE', value: 'fast', secret: false, target: 'runtime', updatedAt },
  ];
  assert.deepEqual(said.body.variables, shown);
  const list = await ask('GET', path);
  const items: { key: string }[] = Object(list.body).items;
  assert.deepEqual(
    items.filter(({ key }) => key !== 'SESSION_SECRET'),
    shown.toReversed(),
  );
  const page = await ask('GET', `${path}?limit=1`);
  assert.deepEqual(
    [Object(page.body.items).length, typeof page.body.nextCursor],
    [1, 'string'],
    'in pages, as every list',
  );
  assert.deepEqual((await ask('GET', `${path}/API_KEY`)).body, shown[0]);
  assert.deepEqual((await ask('GET', `${path}/MODE`)).body, shown[1]);
  for (const answer of [said, list, await ask('GET', `/environments/${environmentId}`)])
    assert.ok(!answer.text.includes('canary-2718'));
  assert.ok(!JSON.stringify(service.logLines).includes('canary-2718'));
  const { db, sealer } = service.app.store;
  const rows = await db.rows<{ whole: string }>(
    sql`select encode(value_sealed, 'escape') as whole from variables where environment_id = ${environmentId}`,
  );
  assert.ok(
    rows.length > 0 && rows.every(({ whole }) => !whole.includes('canary-2718') && !whole.includes('fast')),
  );
  const opened = await openVariables(db, sealer, workspaceId, environmentId);
  assert.deepEqual(
    opened.filter(({ key }) => key !== 'SESSION_SECRET').map((each) => [each.key, each.value.reveal()]),
    [
      ['API_KEY', 'canary-2718'],
      ['MODE', 'fast'],
    ],
    'those who run the app have it',
  );
});

test('a change of variables says what it needs, and what is the same again is no change', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, environmentId, service } = scene;
  const path = `/environments/${environmentId}/variables`;
  await scene.released();
  const set = async (key: string, value: string, more: object = {}) => {
    const answer = await ask('POST', path, { variables: [{ key, value, ...more }] });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.needs;
  };
  const runtime = { target: 'runtime' };
  assert.equal(await set('A', '1'), 'rebuild', 'new, and there while building');
  assert.equal(await set('B', '1', runtime), 'restart');
  const before = (await ask('GET', `${path}/A`)).body.updatedAt;
  service.clock.advance(60_000);
  assert.equal(await set('A', '1'), 'nothing');
  assert.equal((await ask('GET', `${path}/A`)).body.updatedAt, before, 'it did not change');
  assert.equal(await set('B', '2', runtime), 'restart');
  assert.equal(await set('B', '2', { target: 'both' }), 'rebuild', 'the build sees it now');
  assert.equal(await set('B', '2', runtime), 'rebuild', 'the build sees it no longer');
  assert.equal(await set('B', '2', { ...runtime, secret: false }), 'nothing', 'only what is shown changed');
  assert.equal((await ask('GET', `${path}/B`)).body.value, '2');
  const both = await ask('POST', path, {
    variables: [
      { key: 'A', value: '1' },
      { key: 'B', value: '3', ...runtime },
    ],
  });
  assert.equal(both.body.needs, 'restart', 'what needs most counts');
  const gone = await ask('DELETE', `${path}/B`);
  assert.deepEqual([gone.status, gone.body], [200, { needs: 'restart' }]);
  assert.deepEqual((await ask('DELETE', `${path}/A`)).body, { needs: 'rebuild' });
  assertProblem(await ask('DELETE', `${path}/A`), 404, 'not_found');
  assertProblem(await ask('GET', `${path}/A`), 404, 'not_found');
});

test('a variable that is not one, is ours, or is one too many is refused by its name', async (t) => {
  const { ask, environmentId, service, person } = await startEnvironmentScene(t);
  const path = `/environments/${environmentId}/variables`;
  const post = (variables: unknown) => ask('POST', path, { variables });
  assertInvalid(await post([{ key: '1A', value: '' }]), 'variables[0].key');
  assertInvalid(await post([{ key: '$(id)', value: '' }]), 'variables[0].key');
  assertInvalid(await post([{ key: 'A' }]), 'variables[0].value');
  assertInvalid(await post([{ key: 'A', value: 'a', target: 'never' }]), 'variables[0].target');
  assertInvalid(await post([{ key: 'A', value: 'a', odd: 1 }]), 'variables[0].odd');
  assertInvalid(await post([]), 'variables');
  assertInvalid(await ask('POST', path, {}), 'variables');
  const ours = await post([
    { key: 'A', value: 'a' },
    { key: 'PORT', value: '1' },
    { key: 'SLIPWAY_ENVIRONMENT', value: '1' },
    { key: 'BUILDKIT_SYNTAX', value: 'evil.example/frontend' },
    { key: 'BUILDKIT_CACHE_MOUNT_NS', value: 'theirs' },
  ]);
  assertInvalid(ours, ...[1, 2, 3, 4].map((index) => `variables[${index}].key`));
  assert.match(String(ours.body.hint), /settings\.port/);
  assertInvalid(await ask('GET', `${path}/a-b`), 'key');
  const many = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({ key: `K${from + index}`, value: 'x' }));
  assert.equal((await post(many(0, 499))).status, 200, 'with the generated one they are 500');
  assertInvalid(await post(many(499, 1)), 'variables');
  assert.equal((await post(many(10, 20))).status, 200, 'a change is none more');
  const headers = { 'idempotency-key': 'once-1' };
  const body = { variables: [{ key: 'K0', value: 'y', secret: false }] };
  const first = await service.call('POST', path, { token: person.token, body, headers });
  const second = await service.call('POST', path, { token: person.token, body, headers });
  assert.deepEqual([first.status, first.text], [second.status, second.text]);
});
