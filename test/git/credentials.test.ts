import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { tempFolder } from '../../lab/services/git/test-bench.ts';
import { Secret } from '../../src/secret.ts';
import { until } from '../support/until.ts';
import { listen, standBetween } from './servers.ts';
import {
  bareOf,
  commitFiles,
  faultOf,
  filesWith,
  key,
  mirrorsIn,
  openMirrors,
  processesShowing,
  signal,
} from './support.ts';

const repo = key('canary');

test('during a fetch and after it, a token stands in no argument, no environment and no file', async (t) => {
  const setup = await openMirrors(t);
  const { bench, mirrors, folder } = setup;
  const canary = `canary${randomBytes(12).toString('hex')}`;
  bench.host.createToken({ login: 'ada', scopes: ['repo'], token: canary });
  await bench.host.createRepository({ owner: 'ada', name: 'app', private: true });
  commitFiles(bareOf(setup, 'ada/app'), { a: '1' });
  // In front of the host, so that the moment is known at which git has used the token and waits for the answer.
  const hold = Promise.withResolvers<void>();
  let isHeld = false;
  const port = await standBetween(t, bench.host.url, {
    before: async ({ method, headers }) => {
      if (method !== 'POST' || headers.authorization === undefined) return;
      isHeld = true;
      await hold.promise;
    },
  });
  const source = {
    url: `http://127.0.0.1:${port}/ada/app.git`,
    credentials: { username: 'x-access-token', password: new Secret(canary) },
  };
  const forms = [canary, Buffer.from(`x-access-token:${canary}`).toString('base64')];
  const fetching = mirrors.fetch(repo, source, { want: { branch: 'main' }, signal });
  try {
    await until(() => isHeld, 'git to ask with the token');
    for (const form of forms) {
      assert.deepEqual(processesShowing(form), []);
      assert.deepEqual(filesWith(folder, form), []);
    }
    assert.ok(processesShowing(`127.0.0.1:${port}`).length > 0, 'the processes of git are looked at');
  } finally {
    hold.resolve();
  }
  await fetching;
  for (const form of forms) assert.deepEqual(filesWith(folder, form), []);
  assert.ok(!JSON.stringify(setup.warnings).includes(canary));
});

test('the token is given to the host it is for, and to no other', async (t) => {
  const setup = await openMirrors(t);
  const seen: (string | undefined)[] = [];
  const other = await listen(
    t,
    createServer((incoming, response) => {
      seen.push(incoming.headers.authorization);
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    }),
  );
  const port = await listen(
    t,
    createServer((incoming, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${other}${incoming.url}` }).end();
    }),
  );
  const source = {
    url: `http://127.0.0.1:${port}/a/b.git`,
    credentials: { username: 'u', password: new Secret('secret-token') },
  };
  const fault = await faultOf(setup.mirrors.fetch(repo, source, { want: 'default', signal }));
  assert.match(fault.message, /sends us on/);
  assert.deepEqual(seen, []);
});

test('a wrong token, a missing one, and a missing repository are told apart in words, without the token', async (t) => {
  const setup = await openMirrors(t);
  const { bench, mirrors, source } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app', private: true });
  commitFiles(bareOf(setup, 'ada/app'), { a: '1' });
  const wrong = await faultOf(
    mirrors.fetch(repo, source('ada/app', 'wrong-token-value'), { want: 'default', signal }),
  );
  assert.equal(wrong.code, 'provider_rejected');
  assert.ok(!JSON.stringify([wrong.message, wrong.evidence, wrong.hint]).includes('wrong-token-value'));
  const none = await faultOf(
    mirrors.fetch(repo, { url: source('ada/app').url }, { want: 'default', signal }),
  );
  assert.equal(none.code, 'repository_not_found');
  assert.match(none.message, /no public repository/);
  const missing = await faultOf(mirrors.fetch(repo, source('ada/none'), { want: 'default', signal }));
  assert.equal(missing.code, 'repository_not_found');
  bench.host.revokeToken(bench.token);
  assert.equal(
    (await faultOf(mirrors.fetch(repo, source('ada/app'), { want: 'default', signal }))).code,
    'provider_rejected',
  );
});

test('the connection goes to the address that was checked, whatever the name resolves to', async (t) => {
  const setup = await openMirrors(t);
  await setup.bench.host.createRepository({ owner: 'ada', name: 'app' });
  commitFiles(bareOf(setup, 'ada/app'), { a: '1' });
  const asked: string[] = [];
  const mirrors = mirrorsIn(tempFolder(t), {
    resolve: async (host) => {
      asked.push(host);
      return [{ address: '127.0.0.1', family: 4 }];
    },
  });
  // `.invalid` resolves nowhere: only the address that was handed over can lead to the host.
  const url = `http://git.invalid:${setup.bench.host.port}/ada/app.git`;
  assert.equal((await mirrors.fetch(repo, { url }, { want: 'default', signal })).branch, 'main');
  assert.deepEqual(asked, ['git.invalid']);
  const refusing = mirrorsIn(tempFolder(t), {
    resolve: async () => {
      throw new Error('not there');
    },
  });
  await assert.rejects(refusing.fetch(repo, { url }, { want: 'default', signal }), /not there/);
});

test('plain http is refused unless it is allowed, and so are other transports', async (t) => {
  const mirrors = mirrorsIn(tempFolder(t), { allowHttp: false });
  for (const url of [
    'http://127.0.0.1/a.git',
    'ext::sh -c touch% /tmp/x',
    'file:///etc',
    '/etc',
    'git://127.0.0.1/a',
    '--upload-pack=x',
    'https://u:p@127.0.0.1/a.git',
  ])
    assert.equal(
      (await faultOf(mirrors.fetch(repo, { url }, { want: 'default', signal }))).code,
      'invalid_input',
      url,
    );
});
