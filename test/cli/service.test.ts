/** The command line against the service itself, as programs run it: no terminal. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { TestApp } from '../support/app.ts';
import { startGitScene } from '../support/git.ts';
import { newPerson, type Person, text } from '../support/people.ts';
import { expressApp } from '../support/projects.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { minutes } from '../support/steps.ts';
import { Desk, type Ended } from './support.ts';

function done({ code, out, err }: Ended): string {
  assert.equal(code, 0, `${out}\n${err}`);
  return out;
}

async function signedIn(t: TestContext, service: TestApp, { email, password }: Person): Promise<Desk> {
  const desk = new Desk(t);
  done(await desk.run(['login', service.url, '--email', email, '--name', 'test'], { input: password }));
  return desk;
}

async function tokenOf(service: TestApp, { token }: Person, abilities: readonly string[]): Promise<string> {
  const made = await service.call('POST', '/api-tokens', { token, body: { name: 'a CI', abilities } });
  return text(made.body.token);
}

test('who signs in is remembered, in a file that nobody else can read', async (t) => {
  const service = await sharedTestApp();
  const person = await newPerson(service);
  const desk = await signedIn(t, service, person);
  const file = join(desk.folder, 'config/contexts.json');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(join(desk.folder, 'config')).mode & 0o777, 0o700);
  const shown = done(await desk.run(['contexts']));
  assert.match(shown, new RegExp(`\\* +test +${service.url} +${person.email}`));
  const kept = JSON.parse(readFileSync(file, 'utf8')).contexts.test.tokens;
  assert.ok(!shown.includes(kept.refreshToken) && !shown.includes(kept.accessToken));

  // Its access token has ended: of two commands at once, one refreshes and the other waits for it.
  service.clock.advance(16 * minutes);
  const both = await Promise.all([desk.run(['members', '--json']), desk.run(['status', '--all', '--json'])]);
  for (const each of both) done(each);
  assert.notEqual(
    JSON.parse(readFileSync(file, 'utf8')).contexts.test.tokens.refreshToken,
    kept.refreshToken,
  );

  assert.equal(done(await desk.run(['logout'])), 'Signed out of test.\n');
  const after = await desk.run(['status']);
  assert.deepEqual([after.code, after.out], [3, '']);
  assert.match(after.err, /^Error: You are not signed in\.\nRun `slipway login`/);
});

test('a wrong password, a wrong token and another program at the address are told apart', async (t) => {
  const service = await sharedTestApp();
  const { email } = await newPerson(service);
  const desk = new Desk(t);
  const password = await desk.run(['login', service.url, '--email', email], { input: 'wrong' });
  assert.equal(password.code, 3);
  assert.match(password.err, /^Error: .*password.*\n.*\ninvalid_credentials, request \S+\n$/s);
  const token = await desk.run(['login', service.url, '--with-token'], { input: 'hunter2' });
  assert.deepEqual([token.code, token.err.split('\n')[0]], [2, 'Error: That is no API token.']);
  const gone = await desk.run(['login', 'http://127.0.0.1:9', '--email', email]);
  assert.equal(gone.code, 7);
  assert.match(gone.err, /http:\/\/127\.0\.0\.1:9 cannot be reached/);
});

test('in a CI, two variables are enough, and errors are JSON for who asked for it', async (t) => {
  const service = await sharedTestApp();
  const person = await newPerson(service);
  const desk = new Desk(t);
  const env = { SLIPWAY_URL: service.url, SLIPWAY_TOKEN: await tokenOf(service, person, ['read']) };
  assert.deepEqual(JSON.parse(done(await desk.run(['status', '--json'], { env }))), []);
  const refused = await desk.run(['servers', 'add', 'one', '127.0.0.1', '--json'], { env });
  assert.equal(refused.code, 3);
  const { error } = JSON.parse(refused.out);
  assert.deepEqual([error.code, error.status], ['forbidden', 403]);
  const missing = await desk.run(['api', 'getServer', '--id', person.accountId], { env });
  assert.equal(missing.code, 4);
  const question = await desk.run(['env', 'set', 'KEY'], { env });
  assert.equal(question.code, 2);
  assert.match(question.err, /«KEY» cannot be asked: there is no terminal/);
});

test('any operation is called by its name, with its fields as flags', async (t) => {
  const service = await sharedTestApp();
  const desk = await signedIn(t, service, await newPerson(service));
  const auth = ['--auth', '{"type":"generated"}'];
  const made = JSON.parse(
    done(
      await desk.run([
        'api',
        'registerServer',
        '--name',
        'one',
        '--host',
        '127.0.0.1',
        '--port',
        '9',
        ...auth,
      ]),
    ),
  );
  assert.equal(made.port, 9);
  const renamed = await desk.run(['api', 'updateServer', '--id', made.id, '--body', '-'], {
    input: '{"name":"two"}',
  });
  assert.equal(JSON.parse(done(renamed)).name, 'two');
  assert.match(done(await desk.run(['servers'])), /two +root@127\.0\.0\.1:9 +pending/);
  const wrong = await desk.run(['api', 'updateServer', '--id', made.id, '--port', 'many']);
  assert.deepEqual(
    [wrong.code, wrong.err.split('\n')[0]],
    [2, 'Error: --port must be a number, not «many».'],
  );
  const invalid = await desk.run(['api', 'updateServer', '--id', made.id, '--port', '99999']);
  assert.equal(invalid.code, 1);
  assert.match(invalid.err, /^Error: .*: port must be at most 65535\.\ninvalid_input, request /);
  const looked = await desk.run(['doctor']);
  assert.equal(looked.code, 0, looked.out + looked.err);
  assert.match(
    looked.out,
    /^✓ context +http.*\n✓ service +answers in \d+ ms\n✓ account +p\w+@example\.com in /m,
  );
  assert.match(looked.out, /! server +two is pending(, and not provisioned|: 127.0.0.1 refuses connections)/);
});

test('from a repository to variables: a folder is linked, and what it needs is shown', async (t) => {
  const scene = await startGitScene(t);
  const { service, person } = scene;
  await scene.connect();
  const { cloneUrl } = await scene.repository('shop', expressApp);
  const desk = await signedIn(t, service, person);
  const folder = join(desk.folder, 'shop');
  mkdirSync(folder);
  execFileSync('git', ['-C', folder, 'init', '--quiet', '--initial-branch', 'main']);
  execFileSync('git', ['-C', folder, 'remote', 'add', 'origin', cloneUrl]);
  const here = { cwd: folder };

  const linked = done(await desk.run(['init'], here));
  assert.match(linked, /^\. {2}express/m);
  assert.match(linked, /^ {2}needs postgres/m);
  assert.match(linked, /^Linked to shop production; \.slipway\.json remembers it/m);
  assert.match(
    done(await desk.run(['init'], here)),
    /^There is a project for it: shop\.\nLinked to shop production/,
  );
  const link = JSON.parse(readFileSync(join(folder, '.slipway.json'), 'utf8'));
  assert.deepEqual(Object.keys(link), ['url', 'projectId', 'environmentId']);

  assert.match(done(await desk.run(['status'], here)), /^shop production {2}idle\n {2}nothing is live yet/);
  done(await desk.run(['env', 'set', 'GREETING=hello there', '--plain'], here));
  done(await desk.run(['env', 'set', 'API_KEY=s3cret'], here));
  const listed = done(await desk.run(['env', 'list'], here));
  assert.match(listed, /GREETING +hello there +both/);
  assert.match(listed, /API_KEY +\(secret\) +both/);
  const pulled = done(await desk.run(['env', 'pull'], here));
  assert.match(pulled, /^Not in it, .*API_KEY/m);
  assert.match(readFileSync(join(folder, '.env'), 'utf8'), /^GREETING='hello there'$/m);
  assert.equal(statSync(join(folder, '.env')).mode & 0o777, 0o600);
  writeFileSync(join(folder, '.env'), "A=1\nB='two words'\n");
  assert.match(done(await desk.run(['env', 'push', '--plain'], here)), /^Set A, B\./);
  done(await desk.run(['env', 'unset', 'A'], here));
  const left: { key: string }[] = JSON.parse(done(await desk.run(['env', 'list', '--json'], here)));
  const keys = left.map(({ key }) => key);
  assert.deepEqual([keys.includes('A'), keys.includes('B'), keys.includes('API_KEY')], [false, true, true]);

  const refused = await desk.run(['deploy'], here);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /\nserver_not_linked, request /);
  const other = await desk.run(['deploy', '--environment', 'staging'], here);
  assert.deepEqual(
    [other.code, other.err],
    [4, 'Error: There is no environment «staging».\nThere are: production.\n'],
  );
  const back = await desk.run(['rollback'], here);
  assert.match(back.err, /has no release before the live one/);
});
