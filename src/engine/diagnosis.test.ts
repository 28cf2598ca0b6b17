import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerState } from '../adapters/docker/docker.ts';
import { diagnose, type HealthFacts } from './diagnosis.ts';
import { type Probe, readProbe } from './health-probe.ts';

const running: ContainerState = {
  name: 'slipway-01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b-web-0',
  id: 'f00d',
  labels: {},
  status: 'running',
  exitCode: 0,
  isOutOfMemory: false,
  restarts: 0,
  startedAt: '2026-11-15T09:30:00.000Z',
  finishedAt: null,
  pid: 4242,
  address: '198.18.0.16',
  image: 'sha256:abc',
};
const ended = (exitCode: number, changes: Partial<ContainerState> = {}): ContainerState => ({
  ...running,
  status: 'exited',
  exitCode,
  pid: 0,
  ...changes,
});

const probe = (problem: string | null, text: string | Buffer = ''): Probe =>
  readProbe({ atMs: 29_500, isMet: false, problem, bytes: Buffer.from(text) });
const refused = probe('connect:Connection refused');
const says = (text: string) => probe(null, text);
/** Docker's name server listens in every container of a network of its own. */
const nameServer = { address: '127.0.0.11', port: 41_021 };

const facts = (changes: Partial<HealthFacts> = {}): HealthFacts => ({
  wanted: { port: 3000, path: '/' },
  probes: [refused],
  containers: [running],
  listening: [nameServer],
  lastLines: [],
  missing: [],
  memoryMb: 512,
  mostMemoryMb: 2_048,
  startSeconds: 30,
  ...changes,
});

interface Case {
  readonly name: string;
  readonly given: Partial<HealthFacts>;
  readonly code: string;
  readonly says: RegExp;
  readonly hints: RegExp;
}

const cases: readonly Case[] = [
  {
    name: 'out of memory with a limit',
    given: { containers: [ended(137, { isOutOfMemory: true })], lastLines: ['> node server.js'] },
    code: 'app_out_of_memory',
    says: /more than its 512 MB of memory/,
    hints: /settings\.memoryMb to more than 512, 1024.*max-old-space-size=384/,
  },
  {
    name: 'out of memory in one process of an app that lives on',
    given: { containers: [running, { ...running, isOutOfMemory: true }], memoryMb: 64 },
    code: 'app_out_of_memory',
    says: /64 MB/,
    hints: /settings\.memoryMb/,
  },
  {
    name: 'out of memory with all that the server has',
    given: { containers: [ended(137, { isOutOfMemory: true })], memoryMb: 2_048 },
    code: 'app_out_of_memory',
    says: /more than its 2048 MB/,
    hints: /all the server has.*larger one/,
  },
  {
    name: 'killed, but not for memory',
    given: { containers: [ended(137)] },
    code: 'app_crashed',
    says: /killed \(exit code 137, SIGKILL\)/,
    hints: /memory of the server/,
  },
  {
    name: 'asked to stop by someone',
    given: { containers: [ended(143)] },
    code: 'app_crashed',
    says: /asked to stop \(exit code 143, SIGTERM\)/,
    hints: /script around it/,
  },
  {
    name: 'an unknown command, which Docker never starts',
    given: { containers: [ended(127, { status: 'created' })] },
    code: 'app_crashed',
    says: /does not exist in the image \(exit code 127\)/,
    hints: /settings\.startCommand/,
  },
  {
    name: 'a command that is not executable',
    given: { containers: [ended(126)], lastLines: ['sh: 1: ./start.sh: cannot execute'] },
    code: 'app_crashed',
    says: /may not be executed \(exit code 126\)/,
    hints: /chmod=\+x/,
  },
  {
    name: 'a program that ends well instead of serving',
    given: { containers: [ended(0)], lastLines: ['server started in the background'] },
    code: 'app_crashed',
    says: /by itself, without an error \(exit code 0\)/,
    hints: /in the foreground/,
  },
  {
    name: 'an exception at the start',
    given: { containers: [ended(1)], lastLines: ['TypeError: config.url is undefined'] },
    code: 'app_crashed',
    says: /exit code 1\)/,
    hints: /last lines say why/,
  },
  {
    name: 'an exit without a word',
    given: { containers: [ended(1)], lastLines: [''] },
    code: 'app_crashed',
    says: /exit code 1\)/,
    hints: /printed nothing/,
  },
  {
    name: 'a missing module, told by its lines',
    given: { containers: [ended(1)], lastLines: ["Error: Cannot find module 'express'", 'Require stack:'] },
    code: 'app_crashed',
    says: /exit code 1\)/,
    hints: /«dependencies»/,
  },
  {
    name: 'a database on localhost, told by its lines',
    given: { containers: [ended(1)], lastLines: ['Error: connect ECONNREFUSED 127.0.0.1:5432'] },
    code: 'app_crashed',
    says: /exit code 1\)/,
    hints: /DATABASE_URL/,
  },
  {
    name: 'a signal that has no words of its own',
    given: { containers: [ended(135)] },
    code: 'app_crashed',
    says: /exit code 135, signal 7/,
    hints: /./,
  },
  {
    name: 'one crash, and running again',
    given: { containers: [{ ...running, restarts: 1 }], lastLines: ['panic: boom'] },
    code: 'app_crashed',
    says: /ended soon after its start/,
    hints: /last lines/,
  },
  {
    name: 'a crash loop between two starts',
    given: { containers: [ended(1, { status: 'restarting', restarts: 6 })] },
    code: 'app_crash_loop',
    says: /started again 6 times, and ended with an error \(exit code 1\)/,
    hints: /./,
  },
  {
    name: 'a crash loop caught while it runs, when Docker knows no exit code',
    given: { containers: [running, { ...running, restarts: 4 }] },
    code: 'app_crash_loop',
    says: /started again 4 times, and ended soon after its start/,
    hints: /./,
  },
  {
    name: 'bound to localhost',
    given: { listening: [nameServer, { address: '127.0.0.1', port: 3000 }] },
    code: 'app_bound_to_localhost',
    says: /127\.0\.0\.1:3000 only/,
    hints: /0\.0\.0\.0 instead of 127\.0\.0\.1/,
  },
  {
    name: 'bound to localhost by IPv6',
    given: { listening: [{ address: '::1', port: 3000 }] },
    code: 'app_bound_to_localhost',
    says: /::1:3000/,
    hints: /0\.0\.0\.0/,
  },
  {
    name: 'bound to localhost, and on another port',
    given: { listening: [nameServer, { address: '::ffff:127.0.0.1', port: 5173 }] },
    code: 'app_bound_to_localhost',
    says: /5173 only/,
    hints: /0\.0\.0\.0.*port 3000 is expected: use the variable PORT/,
  },
  {
    name: 'bound to localhost beside an open port for something else',
    given: {
      listening: [
        { address: '127.0.0.1', port: 3000 },
        { address: '0.0.0.0', port: 9090 },
      ],
    },
    code: 'app_bound_to_localhost',
    says: /127\.0\.0\.1:3000/,
    hints: /0\.0\.0\.0/,
  },
  {
    name: 'the wrong port',
    given: { listening: [nameServer, { address: '0.0.0.0', port: 8080 }, { address: '::', port: 8080 }] },
    code: 'app_wrong_port',
    says: /listens on port 8080, but it is expected on port 3000/,
    hints: /settings\.port to 8080, or .*PORT \(3000\)/,
  },
  {
    name: 'several wrong ports, and a helper on localhost',
    given: {
      listening: [
        { address: '0.0.0.0', port: 8080 },
        { address: '::', port: 9090 },
        { address: '127.0.0.1', port: 9000 },
      ],
    },
    code: 'app_wrong_port',
    says: /the ports 8080, 9090/,
    hints: /settings\.port to 8080/,
  },
  {
    name: 'not listening at all: neither Docker’s name server nor a debugger is the app',
    given: { listening: [nameServer, { address: '127.0.0.1', port: 9229 }], lastLines: ['compiling…'] },
    code: 'app_not_listening',
    says: /after 30 seconds it listens on no port/,
    hints: /PORT \(3000\).*settings\.health\.startSeconds/,
  },
  {
    name: 'listening only now',
    given: { listening: [{ address: '0.0.0.0', port: 3000 }] },
    code: 'app_not_listening',
    says: /listens on port 3000 now/,
    hints: /settings\.health\.startSeconds/,
  },
  {
    name: 'no probe and nothing known of ports',
    given: { probes: [], listening: [] },
    code: 'app_not_listening',
    says: /no port/,
    hints: /0\.0\.0\.0/,
  },
  {
    name: 'a redirect to https, which would go in a circle',
    given: { probes: [says('HTTP/1.1 301 M\r\nLocation: https://198.18.0.16:3000/\r\n\r\n')] },
    code: 'app_redirects',
    says: /redirect \(301\) to https:\/\/198\.18\.0\.16:3000\/.*circle/,
    hints: /X-Forwarded-Proto/,
  },
  {
    name: 'a redirect to a login',
    given: { probes: [says('HTTP/1.1 302 F\r\nLocation: /users/sign_in\r\n\r\n')] },
    code: 'app_redirects',
    says: /to \/users\/sign_in/,
    hints: /settings\.healthPath to a path that needs no login/,
  },
  {
    name: 'a redirect to itself',
    given: { probes: [says('HTTP/1.1 307 T\r\nLocation: /\r\n\r\n')] },
    code: 'app_redirects',
    says: /same path again/,
    hints: /settings\.healthPath/,
  },
  {
    name: 'a page that is not there',
    given: { probes: [says('HTTP/1.1 404 N\r\n\r\nCannot GET /up')], wanted: { port: 80, path: '/up' } },
    code: 'app_unhealthy',
    says: /GET \/up on port 80 with status 404\. It said: «Cannot GET \/up»/,
    hints: /settings\.healthPath to a path that exists/,
  },
  {
    name: 'an error of the app',
    given: { probes: [says('HTTP/1.1 500 E\r\n\r\nrelation "users" does not exist')] },
    code: 'app_unhealthy',
    says: /status 500.*relation "users"/,
    hints: /settings\.releaseCommand/,
  },
  {
    name: 'a login',
    given: { probes: [says('HTTP/1.1 401 U\r\n\r\n')] },
    code: 'app_unhealthy',
    says: /status 401\.$/,
    hints: /needs no login/,
  },
  {
    name: 'a list of allowed hosts',
    given: { probes: [says('HTTP/1.1 400 B\r\n\r\n<h1>DisallowedHost at /</h1>')] },
    code: 'app_unhealthy',
    says: /status 400/,
    hints: /ALLOWED_HOSTS/,
  },
  {
    name: 'plain HTTP to a port for https, as Go answers it',
    given: { probes: [says('HTTP/1.0 400 B\r\n\r\nClient sent an HTTP request to an HTTPS server.')] },
    code: 'app_unhealthy',
    says: /status 400/,
    hints: /plain HTTP/,
  },
  {
    name: 'an answer that does not come',
    given: { probes: [probe('answer:timed out')] },
    code: 'app_unhealthy',
    says: /does not answer GET \/ on port 3000 in time/,
    hints: /database/,
  },
  {
    name: 'https',
    given: { probes: [probe(null, Buffer.from([21, 3, 3, 0, 2, 2, 70]))] },
    code: 'app_not_http',
    says: /speaks https on port 3000/,
    hints: /plain HTTP/,
  },
  {
    name: 'another protocol',
    given: { probes: [says("-ERR unknown command 'GET'\r\n")] },
    code: 'app_not_http',
    says: /does not speak HTTP.*-ERR unknown/,
    hints: /settings\.port/,
  },
  {
    name: 'a connection that is closed at once',
    given: { probes: [probe('answer:Connection reset by peer')] },
    code: 'app_not_http',
    says: /closes the connection/,
    hints: /https/,
  },
  {
    name: 'healthy in the end, but too late',
    given: { probes: [refused, says('HTTP/1.1 200 OK\r\n\r\n')] },
    code: 'app_unhealthy',
    says: /within 30 seconds/,
    hints: /settings\.health\.startSeconds/,
  },
];

for (const { name, given, code, says: sentence, hints } of cases) {
  test(`${code}: ${name}`, () => {
    const fault = diagnose(facts(given));
    assert.equal(fault.code, code);
    assert.match(fault.message, sentence);
    assert.match(fault.hint ?? '', hints);
    assert.doesNotMatch(`${fault.message} ${fault.hint}`, /undefined|NaN|null\b(?!, then|\.)/);
  });
}

test('of several causes, the one that explains the others is told', () => {
  const redirect = says('HTTP/1.1 301 M\r\nLocation: https://x/\r\n\r\n');
  const everything = {
    containers: [ended(1, { isOutOfMemory: true, restarts: 9 })],
    listening: [
      { address: '127.0.0.1', port: 3000 },
      { address: '0.0.0.0', port: 1 },
    ],
    probes: [redirect, refused],
  };
  const order: Partial<HealthFacts>[] = [
    everything,
    { ...everything, containers: [ended(1, { restarts: 9 })] },
    { ...everything, containers: [ended(1)] },
    { ...everything, containers: [running] },
    { ...everything, containers: [running], listening: [{ address: '0.0.0.0', port: 1 }] },
    { containers: [running], listening: [], probes: [redirect, refused] },
    { containers: [running], listening: [], probes: [refused, redirect] },
    { containers: [running], listening: [], probes: [redirect, says('HTTP/1.1 500 E\r\n\r\n')] },
  ];
  assert.deepEqual(
    order.map((each) => diagnose(facts(each)).code),
    [
      ...['app_out_of_memory', 'app_crash_loop', 'app_crashed', 'app_bound_to_localhost', 'app_wrong_port'],
      ...['app_not_listening', 'app_redirects', 'app_unhealthy'],
    ],
  );
});

test('an app that answers is not said to listen elsewhere, whatever else it listens on', () => {
  const given = { listening: [{ address: '127.0.0.1', port: 1 }], probes: [says('HTTP/1.1 503 S\r\n\r\n')] };
  assert.equal(diagnose(facts(given)).code, 'app_unhealthy');
});

test('the evidence shows the last checks, the containers and the last lines, and no more of them', () => {
  const lines = Array.from({ length: 60 }, (_, index) => `line ${index}`);
  const probes = Array.from({ length: 40 }, (_, index) => ({ ...refused, atMs: index * 1000 }));
  const { evidence = '' } = diagnose(
    facts({ lastLines: lines, probes, containers: [ended(1, { restarts: 3 })] }),
  );
  assert.match(evidence, /^Health checks:\n35\.0 s: connect:Connection refused\n/);
  assert.match(evidence, /web-0: exited, exit code 1, 3 restarts/);
  assert.match(evidence, /Last lines of the app:\nline 40\n[\s\S]*line 59$/);
  assert.doesNotMatch(evidence, /127\.0\.0\.11/);
});
