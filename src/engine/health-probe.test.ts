import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf } from '../../test/support/faults.ts';
import type { RelayAttempt } from '../remote/remote.ts';
import { hasReached, isHealthy, probeRequest, readProbe } from './health-probe.ts';

const answered = (text: string | Buffer, problem: string | null = null): RelayAttempt => ({
  atMs: 250,
  isMet: problem === null,
  problem,
  bytes: Buffer.from(text),
});
const failed = (problem: string): RelayAttempt => answered('', problem);

test('the question is one plain GET that asks for the connection to be closed', () => {
  const asked = probeRequest({ path: '/healthz?deep=1', host: '198.18.0.16', port: 3000 }).toString('latin1');
  assert.match(asked, /^GET \/healthz\?deep=1 HTTP\/1\.1\r\nHost: 198\.18\.0\.16:3000\r\n/);
  assert.match(asked, /\r\nUser-Agent: slipway-health\/1\r\n/);
  assert.match(asked, /\r\nConnection: close\r\n/);
  assert.ok(asked.endsWith('\r\n\r\n') && asked.indexOf('\r\n\r\n') === asked.length - 4);
  assert.match(
    probeRequest({ path: '/', host: 'shop.test', port: 80 }).toString(),
    /\r\nHost: shop\.test\r\n/,
  );
  assert.match(probeRequest({ path: '/', host: '[::1]', port: 81 }).toString(), /\r\nHost: \[::1\]:81\r\n/);
});

test('no line end and nothing else that is no path, host or port gets into the question', async () => {
  const good = { path: '/', host: 'a', port: 80 };
  const paths = ['', 'x', '/a\r\nX: y', '/a\n', '/a\r', '/a b', '/é', '/\0', '/\u2028', '/\x7f', 'http://x/'];
  const hosts = ['', 'a\r\nX: y', 'a\n', 'a b', 'a:1', 'a/b', 'é', '[::1', 'a@b'];
  const ports = [0, -1, 65_536, 1.5, Number.NaN, Number.POSITIVE_INFINITY];
  const wrong = [
    ...paths.map((path) => ({ ...good, path })),
    ...hosts.map((host) => ({ ...good, host })),
    ...ports.map((port) => ({ ...good, port })),
  ];
  for (const spec of wrong)
    assert.equal((await faultOf(() => probeRequest(spec))).code, 'invalid_input', JSON.stringify(spec));
});

test('every 2xx is well, everything else is not', () => {
  const outcomes = [200, 201, 204, 299, 300, 304, 400, 404, 500, 503].map(
    (status) => readProbe(answered(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`)).outcome,
  );
  assert.deepEqual(outcomes, [...Array(4).fill('ok'), ...Array(6).fill('status')]);
  assert.equal(readProbe(answered('HTTP/1.0 200\r\n\r\n')).outcome, 'ok');
  assert.equal(readProbe(answered('HTTP/1.1 200 OK\n\nold program')).body, 'old program');
});

test('an answer keeps its status, its time and what can be printed of its body', () => {
  const body = `<h1>Bad\u0007 Gateway</h1>\n\n\u001b[31mé\u0000 ${'x'.repeat(900)}`;
  const probe = readProbe(answered(`HTTP/1.1 502 Bad Gateway\r\nServer: nginx\r\n\r\n${body}`));
  assert.deepEqual([probe.atMs, probe.status, probe.problem], [250, 502, null]);
  assert.ok(probe.body.startsWith('<h1>Bad Gateway</h1> [31mé x'), probe.body);
  assert.equal(probe.body.length, 500);
});

test('chunks are put together, also where the last is missing', () => {
  const chunked = 'HTTP/1.1 500 E\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhello \r\n5;a=b\r\nworld\r\n';
  assert.equal(readProbe(answered(`${chunked}0\r\n\r\n`)).body, 'hello world');
  assert.equal(readProbe(answered(`${chunked}ff\r\ncut`)).body, 'hello worldcut');
  assert.equal(readProbe(answered(`${chunked}nonsense`)).body, 'hello world');
});

test('a redirect says where it leads; one that leads nowhere is a status', () => {
  const moved = readProbe(answered('HTTP/1.1 301 Moved\r\nlocation:  https://shop.test/\r\n\r\n'));
  assert.deepEqual([moved.outcome, moved.status, moved.location], ['redirect', 301, 'https://shop.test/']);
  assert.equal(readProbe(answered('HTTP/1.1 304 Not Modified\r\n\r\n')).outcome, 'status');
  // A header of that name in the body is none.
  assert.equal(readProbe(answered('HTTP/1.1 302 F\r\n\r\nLocation: /x')).location, null);
});

test('early hints are not the answer', () => {
  const hinted = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\nyes';
  const { outcome, status, body } = readProbe(answered(hinted));
  assert.deepEqual([outcome, status, body], ['ok', 200, 'yes']);
});

test('an answer counts by its status although the connection stayed open after it', () => {
  const probe = readProbe(answered('HTTP/1.1 200 OK\r\n\r\n', 'answer:timed out'));
  assert.deepEqual([probe.outcome, probe.problem], ['ok', null]);
});

test('what the socket says is told apart', () => {
  const told = (problem: string) => readProbe(failed(problem)).outcome;
  assert.equal(told('connect:Connection refused'), 'refused');
  assert.equal(told('connect:timed out'), 'timeout');
  assert.equal(told('answer:timed out'), 'timeout');
  assert.equal(told('answer:Connection reset by peer'), 'closed');
  assert.equal(told('send:Broken pipe'), 'closed');
  assert.equal(told('connect:No route to host'), 'unreachable');
  assert.equal(told('connect:Network is unreachable'), 'unreachable');
  assert.equal(readProbe(answered('')).outcome, 'closed');
  assert.equal(readProbe(answered('HTTP/1.1 200 OK\r\nContent', 'answer:timed out')).outcome, 'timeout');
  assert.equal(readProbe(answered('HTT')).outcome, 'closed');
});

test('other protocols are recognised as such', () => {
  const redis = readProbe(answered("-ERR wrong number of arguments for 'get' command\r\n"));
  assert.equal(redis.outcome, 'not_http');
  assert.match(redis.body, /^-ERR wrong/);
  const tls = readProbe(answered(Buffer.from([21, 3, 1, 0, 2, 2, 70])));
  assert.deepEqual([tls.outcome, tls.problem], ['not_http', 'answer:TLS']);
  const http2 = readProbe(answered(Buffer.from([0, 0, 18, 4, 0, 0, 0, 0, 0]), 'answer:timed out'));
  assert.equal(http2.outcome, 'not_http');
});

test('without a path, a port is well as soon as it takes a connection', () => {
  const isWell = (tried: RelayAttempt) => isHealthy(readProbe(tried), null);
  assert.ok(isWell(answered('HTTP/1.1 500 E\r\n\r\n')));
  assert.ok(isWell(answered('')));
  assert.ok(isWell(failed('answer:timed out')));
  assert.ok(!isWell(failed('connect:timed out')));
  assert.ok(!isWell(failed('connect:Connection refused')));
  assert.ok(!isWell(failed('connect:No route to host')));
  assert.ok(!isHealthy(readProbe(answered('HTTP/1.1 500 E\r\n\r\n')), '/'));
  assert.ok(isHealthy(readProbe(answered('HTTP/1.1 204 E\r\n\r\n')), '/'));
  assert.ok(!hasReached(readProbe(failed('connect:timed out'))));
});
