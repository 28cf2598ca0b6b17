/** Authenticated reads beside a bare Fastify handler with the same query, in turns, at 64 connections. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { freePort } from '../test/support/free-port.ts';
import { Mailbox } from '../test/support/mailbox.ts';
import { type Figure, median, milliseconds, perSecond } from './figure.ts';
import { root, startService } from './service.ts';

const connections = 64;
const secondsEach = 5;
const rounds = 5;

export async function benchHttp(): Promise<Figure[]> {
  const service = await startService();
  try {
    const { token, accountId } = await signIn(service.url, service.dataDir, 60);
    const port = await freePort();
    const password = readFileSync(join(service.dataDir, 'postgres.password'), 'utf8');
    const bareArgs = [
      'bench/bare-server.ts',
      join(service.dataDir, 'postgres'),
      password,
      accountId,
      String(port),
    ];
    const bare = spawn(process.execPath, bareArgs, { cwd: root, stdio: 'inherit' });
    try {
      const bareUrl = `http://127.0.0.1:${port}`;
      await untilAnswers(`${bareUrl}/me`);
      const headers = { authorization: `Bearer ${token}` };
      return [
        ...(await compare(
          'one row (GET /auth/me)',
          { url: `${service.url}/api/v1/auth/me`, headers },
          `${bareUrl}/me`,
        )),
        ...(await compare(
          'list of 50 (GET /auth/sessions)',
          { url: `${service.url}/api/v1/auth/sessions`, headers },
          `${bareUrl}/sessions`,
        )),
      ];
    } finally {
      bare.kill();
    }
  } finally {
    await service.stop();
  }
}

interface Target {
  readonly url: string;
  readonly headers: Record<string, string>;
}

async function compare(what: string, ours: Target, bareUrl: string): Promise<Figure[]> {
  const bare: Target = { url: bareUrl, headers: {} };
  const rates: { ours: number[]; bare: number[] } = { ours: [], bare: [] };
  const p99 = { ours: 0, bare: 0 };
  for (const target of [ours, bare]) await load(target, 3);
  for (let round = 0; round < rounds; round += 1) {
    const our = await load(ours, secondsEach);
    rates.ours.push(our.rate);
    p99.ours = Math.max(p99.ours, our.p99);
    const their = await load(bare, secondsEach);
    rates.bare.push(their.rate);
    p99.bare = Math.max(p99.bare, their.p99);
  }
  const name = 'bare Fastify';
  return [
    {
      what,
      slipway: perSecond(median(rates.ours)),
      beside: { name, amount: perSecond(median(rates.bare)) },
      aim: { ratioAtLeast: 0.8 },
    },
    {
      what: `${what}, p99`,
      slipway: milliseconds(p99.ours),
      beside: { name, amount: milliseconds(p99.bare) },
    },
  ];
}

async function load({ url, headers }: Target, duration: number): Promise<{ rate: number; p99: number }> {
  const result = await autocannon({ url, headers, connections, duration });
  if (result.non2xx + result.errors > 0)
    throw new Error(`${result.non2xx + result.errors} bad answers from ${url}`);
  return { rate: result.requests.average, p99: result.latency.p99 };
}

export const benchPerson = { email: 'bench@example.com', password: 'a password for the bench' };

export async function signIn(
  url: string,
  dataDir: string,
  sessions: number,
): Promise<{ token: string; accountId: string }> {
  const body = benchPerson;
  await post(`${url}/api/v1/auth/register`, body);
  const code = await new Mailbox(join(dataDir, 'outbox')).code(body.email);
  await post(`${url}/api/v1/auth/verify-otp`, { email: body.email, code });
  let last: Record<string, unknown> = {};
  for (let count = 0; count < sessions; count += 1) last = await post(`${url}/api/v1/auth/login`, body);
  return { token: String(last.accessToken), accountId: String(Object(last.user).id) };
}

async function post(url: string, body: unknown): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return Object(await answer.json());
}

export async function untilAnswers(url: string): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${url} does not answer`);
}
