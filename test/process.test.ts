import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { root } from '../scripts/commands.ts';
import { callApi } from './support/app.ts';
import { newInstance } from './support/instance.ts';
import {
  cleanEnv,
  mainCommand,
  noneLeft,
  postmasterOf,
  processesOf,
  type Service,
  signal,
} from './support/service.ts';
import { until } from './support/until.ts';

const recovery = /not properly shut down|redo starts|recovery/;
const register = { body: { email: 'ada@example.com', password: 'correct horse battery' } };

function postgresLog(dataDir: string): string {
  return readFileSync(join(dataDir, 'postgres.log'), 'utf8');
}

function postmaster(dataDir: string): number {
  const pid = postmasterOf(dataDir);
  assert.ok(pid);
  return pid;
}

/** With another database than before: a worker of one that was killed may answer for a moment longer. */
async function isBack(url: string, dataDir: string, killed: ReadonlySet<number>): Promise<boolean> {
  const pid = postmasterOf(dataDir);
  return pid !== undefined && !killed.has(pid) && (await isReady(url));
}

async function isReady(url: string): Promise<boolean> {
  return (await fetch(`${url}/readyz`)).status === 200;
}

/** Starts, and proves that it works down to the database. */
async function working(service: Service): Promise<string> {
  const url = await service.url();
  assert.ok(await isReady(url));
  return url;
}

// One data folder for all of these, and the service started on it again after each end: the database is made once.
test('the service is started, ended in each way, and started again', async (t) => {
  const { dataDir, start } = newInstance(t);
  let service = start();

  await t.test(
    'the banner says where the API, its documentation and mail are, and all of it is there',
    async () => {
      const url = await working(service);
      assert.equal(
        service.stdout,
        `Slipway is running at ${url}/api/v1\nDocumentation: ${url}/api/docs\nMail is written to ${dataDir}/outbox and printed here.\n`,
      );
      assert.equal(service.stderr, '');
      assert.equal((await fetch(`${url}/api/docs`)).status, 200);
      const answer = await callApi(url, 'POST', '/auth/register', register);
      assert.equal(answer.status, 201, answer.text);
      await service.printed(/--- mail to ada@example\.com: [^\n]+\n[\s\S]*\d{6}/);
    },
  );

  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    await t.test(`${name} stops the service and its database in good order`, async () => {
      await working(service);
      assert.deepEqual(await service.kill(name), { code: 0, signal: null }, service.stderr);
      assert.match(service.stdout, /Stopping …\nStopped\.\n$/);
      assert.equal(service.stderr, '');
      await noneLeft(dataDir, 0);
      assert.equal(postmasterOf(dataDir), undefined);
      service = start();
      await working(service);
      assert.doesNotMatch(postgresLog(dataDir), recovery);
    });
  }

  await t.test(
    'SIGKILL of the service ends its database too, in good order, and the next start works',
    async () => {
      const before = processesOf(dataDir);
      assert.ok(before.some(({ pid }) => pid === postmasterOf(dataDir)));
      assert.deepEqual(await service.kill('SIGKILL'), { code: null, signal: 'SIGKILL' });
      await noneLeft(dataDir);
      service = start({
        SLIPWAY_PUBLIC_URL: 'https://deploy.example.com',
        SLIPWAY_SMTP_URL: 'smtp://ops:hunter2@mail.example.com:25',
        SLIPWAY_LIMIT_SIGN_IN: '1000',
      });
      await working(service);
      assert.doesNotMatch(postgresLog(dataDir), recovery);
    },
  );

  await t.test('with a public address and a mail server the banner names those', async () => {
    const banner = (await service.printed(/Slipway is running at [\s\S]*SMTP[\s\S]*\n/))[0];
    assert.match(banner, /\nDocumentation: https:\/\/deploy\.example\.com\/api\/docs\n/);
    assert.match(banner, /\nMail goes through the SMTP server mail\.example\.com\.\n/);
    assert.doesNotMatch(banner, /hunter2/);
  });

  await t.test(
    'SIGKILL of the database: the API answers 503 meanwhile, and goes on by itself, as often as it happens',
    async () => {
      const url = await working(service);
      const killed = new Set<number>();
      for (let count = 0; count < 3; count += 1) {
        const database = postmaster(dataDir);
        killed.add(database);
        signal(database, 'SIGKILL');
        const away = await until(async () => {
          const answer = await callApi(url, 'POST', '/auth/resend-otp', {
            body: { email: 'ada@example.com' },
          });
          return answer.status !== 202 && answer;
        }, 'an answer without the database');
        assert.equal(away.status, 503, away.text);
        assert.equal(away.headers.get('content-type'), 'application/problem+json');
        assert.equal(away.body.code, 'database_unavailable');
        assert.ok(Number(away.headers.get('retry-after')) > 0);
        assert.equal((await fetch(`${url}/healthz`)).status, 200);
        await until(() => isBack(url, dataDir, killed), 'the database to be back');
      }
      const body = { ...register.body, email: 'grace@example.com' };
      assert.equal((await callApi(url, 'POST', '/auth/register', { body })).status, 201);
    },
  );

  await t.test('a database that dies again while it is being brought back is brought back once', async () => {
    const url = await working(service);
    let last = 0;
    for (let kills = 0; kills < 5; kills += 1) {
      last = await until(() => {
        const pid = postmasterOf(dataDir);
        return pid !== undefined && pid !== last && pid;
      }, 'the next one');
      signal(last, 'SIGKILL');
    }
    await until(() => isBack(url, dataDir, new Set([last])), 'the database to be back');
    // Servers, not their workers: those are named `postgres: …`.
    const servers = processesOf(dataDir).filter(({ command }) => command.includes(' -D '));
    assert.equal(servers.length, 1, JSON.stringify(servers));
    assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null }, service.stderr);
    await noneLeft(dataDir, 0);
  });
});

test('a stop during the start ends in good order, and the next start works', async (t) => {
  const { dataDir, start } = newInstance(t);
  const first = start();
  await until(() => processesOf(dataDir).length > 0, 'the database to be prepared');
  assert.deepEqual(await first.kill('SIGTERM'), { code: 0, signal: null }, first.stderr);
  assert.match(first.stdout, /Stopped\.\n$/);
  await noneLeft(dataDir, 0);
  await working(start());
  assert.doesNotMatch(postgresLog(dataDir), recovery);
});

test('SIGKILL of the service and its database at once: the next start recovers what was acknowledged, whoever else works in the folder', async (t) => {
  const { dataDir, start } = newInstance(t);
  const first = start();
  const answer = await callApi(await working(first), 'POST', '/auth/register', register);
  assert.equal(answer.status, 201);
  // A program of someone else, which is neither waited for nor ended.
  const visitor = spawn('sleep', ['infinity'], { cwd: join(dataDir, 'postgres'), stdio: 'ignore' });
  t.after(() => visitor.kill('SIGKILL'));
  signal(postmaster(dataDir), 'SIGKILL');
  await first.kill('SIGKILL');
  const login = await callApi(await working(start()), 'POST', '/auth/login', register);
  assert.equal(login.body.code, 'email_not_verified', login.text);
  assert.match(postgresLog(dataDir), recovery);
  assert.deepEqual([visitor.exitCode, visitor.signalCode], [null, null]);
});

test('a data folder whose path is too long for a socket file works', async (t) => {
  const { dataDir, start } = newInstance(t, join('deep'.repeat(30), 'ünd mit Leerzeichen'.repeat(4)));
  assert.ok(Buffer.byteLength(dataDir) > 200);
  const socketFolders = () => readdirSync(tmpdir()).filter((name) => /^slipway-[0-9a-f]{16}$/.test(name));
  const before = new Set(socketFolders());
  t.after(() => {
    for (const name of socketFolders())
      if (!before.has(name)) rmSync(join(tmpdir(), name), { recursive: true });
  });
  const service = start({ TMPDIR: tmpdir() });
  const url = await working(service);
  assert.equal((await callApi(url, 'POST', '/auth/register', register)).status, 201);
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null }, service.stderr);
  await noneLeft(dataDir, 0);
});

test('a SIGTERM to npm itself reaches the service: nothing is left running', async (t) => {
  const { dataDir } = newInstance(t);
  const env = cleanEnv({ SLIPWAY_DATA_DIR: dataDir });
  const npm = spawn('npm', ['start'], { cwd: root, env, stdio: ['ignore', 'pipe', 'ignore'] });
  t.after(() => npm.kill('SIGKILL'));
  let printed = '';
  npm.stdout.setEncoding('utf8').on('data', (chunk) => {
    printed += chunk;
  });
  await until(() => /Mail is written/.test(printed) || undefined, 'the banner');
  npm.kill('SIGTERM');
  await until(() => /Stopped\./.test(printed) || undefined, 'the stop');
  await noneLeft(dataDir);
});

test('at a terminal there is the address and nothing else, then readable lines', async (t) => {
  const { start } = newInstance(t);
  // `script` gives it a terminal; it is part of every Debian and Ubuntu.
  const command = ['script', '-qefc', mainCommand.join(' '), '/dev/null'] as const;
  // The dashboard is there with or without the documentation.
  const service = start({ SLIPWAY_LOG_LEVEL: 'info', SLIPWAY_DOCS: 'off' }, command);
  const [, url = ''] = await service.printed(/Slipway is running at (http:\/\/127\.0\.0\.1:\d+)\r\n/);
  assert.equal(
    service.stdout.split('\r\u001b[K').at(-1),
    `Slipway is running at ${url}\r\n`,
    'what was written over is gone',
  );
  assert.match(service.stdout, /Starting …/);
  await fetch(`${url}/healthz`);
  await fetch(`${url}/api/v1/auth/me`);
  await service.printed(/\r\n/);
  await until(() => service.stdout.includes('/api/v1/auth/me'), 'the line of the request');
  const said = stripVTControlCharacters(service.stdout);
  assert.match(said, /\d\d:\d\d:\d\d GET \/api\/v1\/auth\/me 401 unauthenticated \d+ ms/);
  assert.doesNotMatch(said, /\{|healthz/);
});
