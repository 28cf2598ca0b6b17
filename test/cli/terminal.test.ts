/** What a person sees in a terminal, and what they are asked. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { version } from '../../cli/command.ts';
import { newEmail, newPerson } from '../support/people.ts';
import { newGuarded } from '../support/second-factors.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { minutes } from '../support/steps.ts';
import { until } from '../support/until.ts';
import { Desk, type Watched } from './support.ts';

test('signing in with a password hides it, and asks for the code from the mail', async (t) => {
  const service = await sharedTestApp();
  const email = newEmail();
  const password = 'correct horse battery staple';
  await service.call('POST', '/auth/register', { body: { email, password } });
  const screen = new Desk(t).watch(t, ['login', service.url, '--name', 'here', '--email', email]);
  await screen.sees('Password: ');
  screen.type(`${password}\r`);
  await screen.sees('Code: ');
  screen.type(`${await service.mailbox.code(email)}\r`);
  assert.equal(await screen.ended, 0, screen.screen);
  const code = await service.mailbox.code(email);
  assert.equal(
    screen.screen,
    [
      'Password:',
      'The address has not been confirmed yet: a code was sent to it.',
      `Code: ${code}`,
      `Signed in to here as ${email}.`,
    ].join('\n'),
  );
  assert.ok(!screen.raw.includes(password));
});

test('what asks who it is again asks for the password, once, and goes on; without a terminal it is refused', async (t) => {
  const service = await sharedTestApp();
  const { email, password } = await newPerson(service);
  const desk = new Desk(t);
  const login = ['login', service.url, '--name', 'here', '--email', email];
  assert.equal((await desk.run(login, { input: password })).code, 0);
  service.clock.advance(11 * minutes);
  const make = ['tokens', 'make', 'CI', '--can', 'manage'];
  const refused = await desk.run(make);
  assert.equal(refused.code, 3, refused.err);
  assert.match(refused.err, /This asks for your password again/);
  const screen = desk.watch(t, make);
  await screen.sees('This asks who you are again.');
  await screen.sees('Password: ');
  screen.type(`${password}\r`);
  assert.equal(await screen.ended, 0, screen.screen);
  assert.match(screen.screen, /It is shown this once:\nslw_\w{38}$/);
  assert.equal((await desk.run(make)).code, 0, 'it was just proven');
});

test('where there is a second factor, that is what is asked for', async (t) => {
  const service = await sharedTestApp();
  const ada = await newGuarded(service);
  const [first = '', second = ''] = ada.recoveryCodes;
  const desk = new Desk(t);
  const asked = 'Code of the authenticator app, or a recovery code: ';
  const signing = desk.watch(t, ['login', service.url, '--name', 'here', '--email', ada.email]);
  await signing.sees('Password: ');
  signing.type(`${ada.password}\r`);
  await signing.sees(asked);
  signing.type(`${first}\r`);
  assert.equal(await signing.ended, 0, signing.screen);
  service.clock.advance(11 * minutes);
  const making = desk.watch(t, ['tokens', 'make', 'CI', '--can', 'read_secrets']);
  await making.sees(asked);
  making.type(`${second}\r`);
  assert.equal(await making.ended, 0, making.screen);
  assert.match(making.screen, /slw_\w{38}$/);
});

/** A machine with a desktop, whose browser only notes what it was to open. */
function withBrowser(desk: Desk) {
  const bin = join(desk.folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\nprintf '%s' "$*" > '${desk.folder}/opened'\n`, {
    mode: 0o755,
  });
  const opened = () => {
    const file = join(desk.folder, 'opened');
    return existsSync(file) ? readFileSync(file, 'utf8') || undefined : undefined;
  };
  return { opened, env: { PATH: `${bin}:${desk.env.PATH}`, DISPLAY: ':0' } };
}

async function shownCode(screen: Watched): Promise<string> {
  await screen.sees('Waiting for you to allow it.');
  return /type this code: +(\S+)$/m.exec(screen.screen)?.[1] ?? assert.fail(screen.screen);
}

test('signing in opens the browser, shows a code, and waits until it is allowed there', async (t) => {
  const service = await sharedTestApp();
  const { email, token } = await newPerson(service);
  const desk = new Desk(t);
  const { env, opened } = withBrowser(desk);
  const screen = desk.watch(t, ['login', service.url, '--name', 'here'], { env });
  const userCode = await shownCode(screen);
  // No secret in it: the code is typed.
  assert.equal(await until(opened), `${service.url}/device`);
  const seen = await service.call('POST', '/auth/device-codes/verify', { token, body: { userCode } });
  assert.deepEqual(
    [seen.body.deviceName, seen.body.userAgent],
    [hostname(), `slipway-cli/${version} node/${process.versions.node}`],
  );
  const body = { userCode, allow: true };
  assert.equal((await service.call('POST', '/auth/device-codes/answer', { token, body })).status, 204);
  assert.equal(await screen.ended, 0, screen.screen);
  assert.equal(
    screen.screen,
    [
      `To sign in, open ${service.url}/device`,
      `and type this code:  ${userCode}`,
      'The browser opens there.',
      'Waiting for you to allow it. Ctrl-C ends this; `slipway login --help` has other ways.',
      `Signed in to here as ${email}.`,
    ].join('\n'),
  );
  const kept = readFileSync(join(desk.folder, 'config/contexts.json'), 'utf8');
  assert.match(kept, /"refreshToken": "refresh_/);
  assert.doesNotMatch(kept, /device_code_/);
  assert.equal((await desk.run(['status'])).code, 0);
});

test('a program that is refused, one that is interrupted and one without a terminal are not signed in', async (t) => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  const desk = new Desk(t);
  const refused = desk.watch(t, ['login', service.url]);
  const body = { userCode: await shownCode(refused), allow: false };
  assert.equal((await service.call('POST', '/auth/device-codes/answer', { token, body })).status, 204);
  assert.equal(await refused.ended, 3, refused.screen);
  assert.match(refused.screen, /^Error: Whoever typed the code refused it\.\nRun `slipway login` again/m);
  const left = desk.watch(t, ['login', service.url]);
  await shownCode(left);
  left.type('\x03');
  assert.equal(await left.ended, 6, left.screen);
  assert.match(left.screen, /Error: Nothing was done\.$/);
  const { code, err } = await desk.run(['login', service.url]);
  assert.equal(code, 2);
  assert.match(err, /^Error: Signing in by a browser takes a terminal.*\n.*--with-token/);
  assert.ok(!existsSync(join(desk.folder, 'config/contexts.json')));
});

test('a token that is pasted is not shown', async (t) => {
  const service = await sharedTestApp();
  const person = await newPerson(service);
  const body = { name: 'x', abilities: ['read'] };
  const made = await service.call('POST', '/api-tokens', { token: person.token, body });
  const screen = new Desk(t).watch(t, ['login', service.url, '--with-token', '--name', 'here']);
  await screen.sees('API token: ');
  screen.type(`${made.body.token}\r`);
  assert.equal(await screen.ended, 0, screen.screen);
  assert.equal(screen.screen, `API token:\nSigned in to here as ${person.email}.`);
});

test('Ctrl-C at a question does nothing', async (t) => {
  const screen = new Desk(t).watch(t, ['login']);
  await screen.sees('Address of Slipway: ');
  screen.type('\x03');
  assert.equal(await screen.ended, 6);
  assert.match(screen.screen, /Error: Nothing was done\.$/);
});

const id = '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b';
const commit = {
  sha: '9f2c1d0b7a6e5f4c3b2a19087f6e5d4c3b2a1908',
  message: 'Sell more',
  author: null,
  branch: 'main',
};
const deployment = { id, environmentId: id, number: 7, commit, status: 'building' };
const environment = {
  id,
  projectId: id,
  name: 'production',
  currentDeploymentId: id,
  url: 'https://shop.example.com',
};

/** Says what it is told to say of one deployment, at the pace of the test: a real one is in test/long. */
async function scriptedService(t: TestContext) {
  const streams: ServerResponse[] = [];
  const calls: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/^\/api\/v1|\?.*$/g, '');
    calls.push(`${request.method} ${path}`);
    if (path.endsWith('/status')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      return void streams.push(response);
    }
    const answers: Record<string, unknown> = {
      '/projects': { items: [{ id, name: 'shop', environments: [] }], nextCursor: null },
      '/environments': { items: [environment], nextCursor: null },
    };
    const isOfEnvironment = path === `/environments/${id}`;
    const body = answers[path] ?? (isOfEnvironment ? environment : deployment);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let position = 0;
  const tell = async (kind: string, data: object) => {
    const stream = await until(() => streams[0]);
    position += 1;
    stream.write(`id: ${position}\nevent: ${kind}\ndata: ${JSON.stringify({ kind, ...data })}\n\n`);
  };
  return { env: { SLIPWAY_URL: url, SLIPWAY_TOKEN: 'slw_x' }, tell, calls };
}

/** Seconds differ from run to run. */
const timeless = (screen: string) => screen.replaceAll(/\d+\.\d s/g, '… s');

test('a deployment is a list of steps that grows, and ends with the address', async (t) => {
  const { env, tell } = await scriptedService(t);
  const screen = new Desk(t).watch(t, ['deploy'], { env });
  await tell('status', { status: 'preparing', step: 'fetch' });
  await screen.sees(/^. fetch/);
  await tell('status', { status: 'building', step: 'build' });
  await tell('log', { step: 'build', line: '#8 RUN npm \x1b[31mci\x1b[0m' });
  await screen.sees(/^. build +#8 RUN npm ci$/m);
  await tell('end', { status: 'succeeded', step: 'build' });
  assert.equal(await screen.ended, 0);
  assert.equal(
    timeless(screen.screen),
    [
      '✓ fetch            … s',
      '✓ build            … s',
      'Live: #7 9f2c1d0 Sell more',
      'https://shop.example.com',
    ].join('\n'),
  );
});

test('one that fails shows the evidence, the reason and what helps, and ends with 5', async (t) => {
  const { env, tell } = await scriptedService(t);
  const screen = new Desk(t).watch(t, ['deploy'], { env });
  await tell('status', { status: 'building', step: 'build' });
  const fault = {
    code: 'build_failed',
    step: 'build',
    message: 'npm ci failed.',
    hint: 'Commit the lock file.',
  };
  await tell('end', { status: 'failed', step: 'build', fault: { ...fault, evidence: 'npm error EUSAGE\n' } });
  assert.equal(await screen.ended, 5);
  assert.equal(
    timeless(screen.screen),
    [
      '✗ build            … s',
      '  npm error EUSAGE',
      'Failed at build: npm ci failed.',
      'Commit the lock file.',
    ].join('\n'),
  );
});

test('Ctrl-C asks; a deployment is cancelled or left alone, as one chooses', async (t) => {
  const { env, tell, calls } = await scriptedService(t);
  const screen = new Desk(t).watch(t, ['deploy'], { env });
  await tell('status', { status: 'building', step: 'build' });
  await screen.sees(/^. build/);
  screen.type('\x03');
  await screen.sees('Deployment #7 is under way. [1-3] ');
  screen.type('2\r');
  await screen.sees('It is being cancelled: what it did is undone.');
  assert.ok(calls.includes(`POST /environments/${id}/deployments/${id}/cancel`));
  await tell('end', { status: 'cancelled', step: 'build' });
  assert.equal(await screen.ended, 6);

  const other = await scriptedService(t);
  const again = new Desk(t).watch(t, ['deploy'], { env: other.env });
  await other.tell('status', { status: 'building', step: 'build' });
  await again.sees(/^. build/);
  again.type('\x03');
  await again.sees('[1-3] ');
  again.type('3\r');
  assert.equal(await again.ended, 8);
  assert.match(again.screen, /Deployment #7 goes on\. See `slipway logs --deployment 7`\.$/);
  assert.ok(!other.calls.some((call) => call.endsWith('/cancel')));
});

test('without a terminal the same is plain lines, without colour', async (t) => {
  const { env, tell } = await scriptedService(t);
  const running = new Desk(t).run(['deploy'], { env });
  await tell('status', { status: 'building', step: 'build' });
  await tell('log', { step: 'build', line: '#8 RUN npm ci' });
  await tell('end', { status: 'succeeded', step: 'build' });
  const { code, out } = await running;
  assert.equal(code, 0);
  assert.equal(out, '> build\n  #8 RUN npm ci\nLive: #7 9f2c1d0 Sell more\nhttps://shop.example.com\n');
});

test('in a narrow terminal a table is cut where it is text, or goes below each other, and no word is broken', async (t) => {
  const service = await sharedTestApp();
  const { email, password, token } = await newPerson(service);
  const desk = new Desk(t);
  const login = ['login', service.url, '--name', 'here', '--email', email];
  assert.equal((await desk.run(login, { input: password })).code, 0);
  const seen = async (...args: string[]) => {
    const screen = desk.watch(t, args, { columns: 60 });
    await screen.ended;
    return screen.screen;
  };
  const body = { name: 'CI of the shop', abilities: ['read', 'deploy'] };
  const made = await service.call('POST', '/api-tokens', { token, body });
  assert.equal(
    await seen('tokens'),
    [
      String(made.body.id),
      '  NAME             CI of the shop',
      `  TOKEN            ${made.body.start}…`,
      '  CAN              read, deploy',
      '  LAST USED (UTC)  never',
    ].join('\n'),
  );
  const operations = (await seen('api')).split('\n');
  assert.deepEqual(
    operations.filter((line) => line.length > 60),
    [],
  );
  assert.match(operations.join('\n'), /^getOidc +Whether people can sign in by …$/m);
  assert.equal(
    (await seen('tokens', 'revoke', 'x')).replace(/request \S+$/, 'request …'),
    [
      'Error: The request is not valid: id must be a UUID, such as',
      '`01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b`.',
      'invalid_input, request …',
    ].join('\n'),
  );
  assert.match(await seen('servers', 'add', 'web 9', '203.0.113.9'), /slipway servers test 'web 9' && /);
});
