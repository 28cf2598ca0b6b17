/** Every operation of the document, attacked: without a right, with someone else's ids, with what it never asked for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../src/ids.ts';
import { type EnvironmentScene, startEnvironmentScene } from '../support/environments.ts';
import { newPerson } from '../support/people.ts';
import { analysed } from '../support/projects.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { api, belongings, env, none, ownIds } from './belongings.ts';
import { send, whole } from './send.ts';
import { type Json, leavesOf, type Operation, surfaceOf, valueAt, withValue } from './surface.ts';
import { sendTexts } from './texts.ts';

test('no operation but the public ones answers without a token, or with one that is none', async () => {
  const service = await sharedTestApp();
  const operations = api(surfaceOf());
  assert.ok(operations.length > 80, `${operations.length} operations`);
  for (const operation of operations.filter(({ isPublic }) => !isPublic)) {
    for (const token of [undefined, 'x.y.z', Buffer.from('{"alg":"none"}').toString('base64url')]) {
      const answer = await send(service.url, operation, { id: none }, { token });
      assert.equal(answer.status, 401, `${operation.name}: ${answer.text}`);
      whole(operation, answer);
    }
  }
});

test('an access token that has expired opens no operation', async () => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  const operations = api(surfaceOf()).filter(({ isPublic }) => !isPublic);
  service.clock.advance(16 * 60_000);
  for (const operation of operations) {
    const { status, text } = await send(service.url, operation, { id: none }, { token });
    assert.equal(status, 401, `${operation.name}: ${text}`);
  }
});

test('what belongs to someone else is not there: in the path, in the query, in the body, however deep', async (t) => {
  const scene = await startEnvironmentScene(t, { env });
  const own = await belongings(scene);
  const { service } = scene;
  const before = await stateOf(scene, own);
  const grace = await newPerson(service);
  const graces = await ownWorld(scene, grace.token);
  for (const operation of api(surfaceOf())) {
    // Whoever has signed out cannot go on.
    if (operation.isPublic || operation.name === 'logout') continue;
    const bodies =
      operation.least.length > 0 ? operation.least.map((each) => withIds(each, own)) : [undefined];
    const query = foreignQuery(operation, own);
    const isNamed = operation.inPath.some((name) => /^(id|.*Id|did|bid)$/.test(name));
    const statuses = new Set<number>();
    for (const body of bodies) {
      const sent = `${Object.values(own)}`;
      if (isNamed) {
        const ids = ownIds(operation, own);
        const answer = await send(service.url, operation, ids, { token: grace.token, body });
        statuses.add(answer.status);
        // A body that is refused first has told nothing.
        const shown = `${operation.name}: ${answer.status} ${answer.text}`;
        assert.ok([400, 404, 415].includes(answer.status), shown);
      }
      const mine = await send(service.url, operation, ownIds(operation, graces), {
        token: grace.token,
        body,
        query,
      });
      whole(operation, mine);
      if (mine.status < 300) noneOf(Object.values(own), operation, mine.text, '');
      else noneOf(Object.values(own), operation, mine.text, `${sent}${JSON.stringify(body)}${query}`);
    }
    if (isNamed)
      assert.ok(statuses.has(404) || operation.isUpload, `${operation.name} was never asked rightly`);
  }
  assert.deepEqual(await stateOf(scene, own), before, 'nothing of it has changed');
});

function foreignQuery({ inQuery }: Operation, own: Readonly<Record<string, string>>): string {
  const named = inQuery.filter((name) => own[name] !== undefined);
  return named.length > 0 ? `?${named.map((name) => `${name}=${own[name]}`).join('&')}` : '';
}

/** What the attacker has: enough to name someone else's things beside it. */
async function ownWorld(scene: EnvironmentScene, token: string): Promise<Record<string, string>> {
  const { service, host, gitToken } = scene;
  const post = async (path: string, body: object) => {
    const { status, body: made, text } = await service.call('POST', path, { token, body });
    assert.ok(status < 300, text);
    return made;
  };
  const provider = await post('/git-provider/save-token', {
    provider: 'github',
    token: gitToken,
    baseUrl: host.url,
  });
  const providerId = String(provider.id);
  const repository = { providerId, fullName: 'ada/shop' };
  const projectId = String((await post('/projects', { name: 'Mine', repository })).id);
  await analysed(service, token, projectId);
  const { environment } = await post(`/projects/${projectId}/finalize`, { environment: { name: 'mine' } });
  const server = { name: 'mine', host: '127.0.0.1', port: 1, auth: { type: 'generated' } };
  return {
    projectId,
    providerId,
    environmentId: String(Object(environment).id),
    serverId: String((await post('/servers', server)).id),
    domainId: String((await post('/domains', { hostname: `mine-${newId()}.example.com` })).id),
  };
}

/** The references of a body that name things of one's own. */
function withIds(example: Json, own: Readonly<Record<string, string>>): Json {
  let body = example;
  for (const at of leavesOf(example)) {
    const name = String(at.findLast((key) => typeof key === 'string'));
    const id = own[name] ?? (name.endsWith('Ids') ? own[name.replace(/Ids$/, 'Id')] : undefined);
    if (id !== undefined) body = withValue(body, at, id);
  }
  return body;
}

function noneOf(secrets: readonly string[], { name }: Operation, text: string, sent: string): void {
  const told = secrets.filter((each) => text.includes(each) && !sent.includes(each));
  assert.deepEqual(told, [], `${name} tells of someone else: ${text.slice(0, 300)}`);
}

async function stateOf(scene: EnvironmentScene, own: Readonly<Record<string, string>>): Promise<Json[]> {
  const paths = [
    `/servers/${own.serverId}`,
    `/projects/${scene.projectId}`,
    `/environments/${scene.environmentId}`,
  ];
  const found: Json[] = [];
  for (const path of [...paths, `/domains/${own.domainId}`, '/git-providers', '/auth/sessions']) {
    const { body } = await scene.ask('GET', path);
    found.push(
      JSON.parse(
        JSON.stringify(body, (key, value) =>
          /At$|lastCheck|facts|[sS]tatus$|[pP]roblem$|fault/.test(key) ? null : value,
        ),
      ),
    );
  }
  return found;
}

/** Where a list begins and how long it is. */
const oddPages = [
  'limit=0',
  'limit=-1',
  'limit=1e9',
  'limit=NaN',
  'limit=',
  'limit=1&limit=2',
  'cursor=',
  'cursor=%00',
  `cursor=${'A'.repeat(5_000)}`,
  `cursor=${none}`,
  `cursor=${Buffer.from('[]').toString('base64url')}`,
  `cursor=${Buffer.from('{"at":"x"}').toString('base64url')}`,
  `cursor=${encodeURIComponent("' or 1=1 --")}`,
  'unknown=1',
  '__proto__=1',
];

test('every list refuses odd cursors, limits and parameters by name, and none of them is an error of ours', async (t) => {
  const scene = await startEnvironmentScene(t, { env });
  const own = await belongings(scene);
  const { service, person } = scene;
  const lists = api(surfaceOf()).filter(
    ({ method, inQuery }) => method === 'GET' && inQuery.includes('limit'),
  );
  assert.ok(lists.length >= 10, `${lists.length} lists`);
  for (const operation of lists) {
    for (const page of oddPages) {
      const answer = await send(service.url, operation, ownIds(operation, own), {
        token: person.token,
        query: `?${page}`,
      });
      whole(operation, answer);
      assert.equal(
        answer.status,
        400,
        `${operation.name}?${page}: ${answer.status} ${answer.text.slice(0, 200)}`,
      );
    }
  }
});

const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;

test('every body that is of the wrong type, huge, deep or has unknown fields is refused, never an error of ours', async (t) => {
  const scene = await startEnvironmentScene(t, { env });
  const own = await belongings(scene);
  const { service, person } = scene;
  for (const operation of api(surfaceOf()).filter(({ example }) => example !== undefined)) {
    const example = operation.example ?? null;
    const bodies: (string | Json)[] = [
      ...['[]', '"text"', '1', 'null', '{', deep, `{"a":${deep}}`, '{"__proto__":{"a":1}}'],
      ...(typeof example === 'object' && example !== null
        ? [JSON.stringify({ ...example, unknownField: 1 })]
        : []),
      JSON.stringify({ text: 'x'.repeat(3 * 1024 * 1024) }),
    ];
    for (const body of bodies) {
      const answer = await send(service.url, operation, ownIds(operation, own), {
        token: person.token,
        body,
      });
      whole(operation, answer);
      assert.ok(
        answer.status >= 400,
        `${operation.name} took ${String(body).slice(0, 40)}: ${answer.status}`,
      );
    }
    for (const at of leavesOf(example)) {
      const was = valueAt(example, at);
      for (const put of [[], {}, typeof was === 'string' ? 7 : 'text', null]) {
        const body = withValue(example, at, put as Json);
        whole(
          operation,
          await send(service.url, operation, ownIds(operation, own), { token: person.token, body }),
        );
      }
    }
  }
});

test('no text in any field of any operation is ever run, nor ends in an error of ours', async (t) => {
  // Each field has two of the texts, its neighbours have the others; test/long has all of them in each.
  const count = await sendTexts(t, (text, field) => (text + field) % 9 === 0);
  assert.ok(count > 280, `${count} attempts`);
});
