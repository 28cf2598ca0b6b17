import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault } from '../src/fault.ts';
import { Metrics } from '../src/http/metrics.ts';
import type { HttpServer } from '../src/http/server.ts';
import { createLog } from '../src/log.ts';
import { readBacklog } from '../src/operations/backlog.ts';
import { startBareServer } from './support/bare-server.ts';
import { newEmail, text } from './support/people.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { cookieOf, login, newPassword, post, register, resetTokenFor, tokensOf } from './support/steps.ts';

test('a whole account story leaves no password, token, code, ticket or cookie in the log', async () => {
  const service = await sharedTestApp();
  const before = service.logLines.length;
  const email = newEmail();
  const [password, chosen] = [newPassword(), newPassword()];
  await register(service, email, password);
  const code = await service.mailbox.code(email);
  const verified = await post(service, '/auth/verify-otp', { email, code });
  const first = tokensOf(await login(service, { email, password }));
  const next = tokensOf(await post(service, '/auth/refresh', { refreshToken: first.refreshToken }));
  const ticket = await service.call('POST', '/auth/stream-ticket', { token: next.token });
  const reset = await resetTokenFor(service, email);
  await post(service, '/auth/reset-password', { token: reset, password: chosen });
  // Mistakes are where secrets slip out: in the wrong field, the wrong place, broken JSON.
  await post(service, '/auth/login', { email, password: { nested: password } });
  await post(service, '/auth/login', `{"email":"${email}","password":"${password}"`);
  await post(service, '/auth/reset-password', { token: reset, password: chosen });
  await service.call('GET', `/auth/me?access_token=${next.token}&ticket=${text(ticket.body.ticket)}`);
  await service.call('GET', `/auth/${next.token}`, { token: next.token });
  await service.call('DELETE', `/auth/sessions/${next.refreshToken}`, { token: next.token });

  const secrets = {
    password,
    chosen,
    code,
    reset,
    ticket: text(ticket.body.ticket),
    cookie: cookieOf(verified).value,
    access: text(verified.body.accessToken),
    ...first,
    nextAccess: next.token,
    nextRefresh: next.refreshToken,
  };
  const lines = service.logLines.slice(before);
  const log = lines.map((line) => JSON.stringify(line)).join('\n');
  assert.equal(lines.filter(({ msg }) => msg === 'request').length, 13, 'every request has its line');
  for (const [what, secret] of Object.entries(secrets)) {
    // Six digits may stand in a time or an id by chance: a code counts as a word of its own.
    const found =
      what === 'code' ? new RegExp(`"${secret}"|\\b${secret}\\b(?!Z)`).test(log) : log.includes(secret);
    assert.equal(found, false, `the log has the ${what}`);
  }
});

test('the log names an account by its id, never by its address', async () => {
  const service = await sharedTestApp();
  const email = newEmail();
  await register(service, email);
  await post(service, '/auth/verify-otp', { email, code: await service.mailbox.code(email) });
  assert.equal(JSON.stringify(service.logLines).includes(email), false);
});

test('what a user or their server does wrong is no error in our log, and no failure of ours in the figures', async (t) => {
  const service = await sharedTestApp();
  const lines: Record<string, unknown>[] = [];
  const log = createLog('debug', { write: (line) => void lines.push(JSON.parse(line)) });
  const metrics = new Metrics(() => readBacklog(service.app.store.db));
  const failures = async () => /^slipway_http_failures_total (\d+)/m.exec((await metrics.told()).text)?.[1];
  const config = { access: { kind: 'public' } } as const;
  const addRoutes = (server: HttpServer) => {
    server.get('/theirs', { config }, async () => {
      throw new Fault('remote_unreachable', 'The server cannot be reached.');
    });
    server.get('/ours', { config }, async () => {
      throw new Error('a defect');
    });
  };
  const url = await startBareServer(t, service, addRoutes, { log, metrics });
  assert.equal(await failures(), '0');
  assert.equal((await fetch(`${url}/theirs`)).status, 502);
  assert.equal((await fetch(`${url}/nothing`)).status, 404);
  assert.ok(
    lines.every(({ level, err }) => level === 'info' && err === undefined),
    JSON.stringify(lines),
  );
  assert.ok(lines.some(({ fault, msg }) => fault === 'remote_unreachable' && msg === 'request refused'));
  assert.ok(lines.some(({ code, msg }) => code === 'not_found' && msg === 'request'));
  assert.equal(await failures(), '0');
  assert.equal((await fetch(`${url}/ours`)).status, 500);
  const loud = lines.filter(({ level }) => level === 'error');
  assert.equal(loud.length, 1);
  assert.match(JSON.stringify(loud), /a defect/);
  assert.equal(await failures(), '1');
});

test('those who only watch leave no line, unless they are refused', async () => {
  const service = await sharedTestApp();
  const from = service.logLines.length;
  await service.call('GET', '//healthz');
  await service.call('GET', '//readyz');
  await service.call('GET', '//metrics');
  await service.call('GET', '//healthz?wrong=1');
  await service.call('POST', '//healthz');
  const routes = service.logLines.slice(from).filter(({ msg }) => msg === 'request');
  assert.ok(
    routes.every(({ status }) => Number(status) >= 400),
    JSON.stringify(routes),
  );
});
