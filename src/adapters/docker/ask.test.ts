import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault } from '../../fault.ts';
import type { Exchange, RelayReply, Remote } from '../../remote/remote.ts';
import { Secret } from '../../secret.ts';
import { ask } from './ask.ts';
import { createContainer, inspectContainer, startContainer, stopContainer } from './containers.ts';
import type { ContainerSpec } from './docker.ts';

/** Answers each exchange in turn with what was given, as the server would: what is not met is the last. */
function relaying(given: readonly (string | { readonly problem: string })[]) {
  const sent: Exchange[] = [];
  const relay: Remote['relay'] = async (exchanges) => {
    const answers: RelayReply[] = [];
    for (const [index, exchange] of exchanges.entries()) {
      const one = given[index] ?? '';
      sent.push(exchange);
      const bytes = Buffer.from(typeof one === 'string' ? one : '');
      const problem = typeof one === 'string' ? null : one.problem;
      const isMet = problem === null && new RegExp(exchange.expect ?? '', 's').test(bytes.toString());
      const last = { atMs: 0, isMet, problem, bytes };
      answers.push({ tries: [last], last });
      if (!isMet) break;
    }
    return answers;
  };
  const none = () => assert.fail('only the relay is used');
  const remote: Remote = {
    secrets: [],
    relay,
    run: none,
    output: none,
    script: none,
    stream: none,
    writeFile: none,
    readFile: none,
    startUnit: none,
    readUnit: none,
    stopUnit: none,
    fence: none,
  };
  return { remote, sent };
}

const json = (status: number, body: unknown) =>
  `HTTP/1.0 ${status} X\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(body)}`;

const spec: ContainerSpec = {
  name: 'slipway-a',
  image: 'sha256:1',
  labels: { a: 'b' },
  network: 'slipway-net',
  address: '10.1.2.3',
  aliases: ['web'],
  environment: new Map([['KEY', new Secret('line\n"$(id)"')]]),
  restart: 'unless-stopped',
  stopSeconds: 7,
  memoryMb: 64,
  cpus: 0.5,
  cgroupParent: '/slipway.slice',
};

test('calls go in one relay as HTTP/1.0 without a version, and what they carry is JSON', async () => {
  const { remote, sent } = relaying([
    json(201, { Id: 'x' }),
    'HTTP/1.0 304 Not Modified\r\n\r\n',
    json(404, {}),
  ]);
  const replies = await ask(remote, [createContainer(spec), startContainer('a/b c'), inspectContainer('n')]);
  assert.deepEqual(
    replies.map(({ status }) => status),
    [201, 304, 404],
  );
  assert.deepEqual(replies[0]?.body, { Id: 'x' });
  const [head = '', body = ''] = String(sent[0]?.send).split('\r\n\r\n');
  assert.match(head, /^POST \/containers\/create\?name=slipway-a HTTP\/1\.0\r\n/);
  assert.ok(head.includes(`Content-Length: ${Buffer.byteLength(body)}`));
  const told = JSON.parse(body);
  assert.deepEqual(told.Env, ['KEY=line\n"$(id)"']);
  assert.deepEqual(told.HostConfig.CapDrop, ['ALL']);
  assert.equal(told.HostConfig.PortBindings, undefined);
  assert.equal(told.User, undefined);
  assert.deepEqual(told.NetworkingConfig.EndpointsConfig['slipway-net'], {
    Aliases: ['web'],
    IPAMConfig: { IPv4Address: '10.1.2.3' },
  });
  assert.match(String(sent[1]?.send), /^POST \/containers\/a%2Fb%20c\/start HTTP\/1\.0\r\n/);
});

test('a container has longer to stop than it is given', () => {
  assert.ok((stopContainer('n', 300).timeoutMs ?? 0) > 300_000);
});

const failure = async (answer: string | { readonly problem: string }): Promise<Fault> => {
  const { remote } = relaying([answer]);
  const secrets = [new Secret('hush-hush')];
  try {
    await ask(remote, [startContainer('n'), startContainer('m')], { secrets });
  } catch (error) {
    assert.ok(error instanceof Fault);
    return error;
  }
  return assert.fail('nothing failed');
};

test('what Docker refuses is a fault with its own words, without secrets', async () => {
  const refused = await failure(json(500, { message: 'no hush-hush here' }));
  assert.deepEqual(
    [refused.code, refused.evidence],
    ['docker_failed', 'POST /containers/n/start: no [secret] here'],
  );
  assert.equal(
    (await failure(json(500, { message: 'write /x: no space left on device' }))).code,
    'disk_full',
  );
  assert.equal((await failure('nonsense')).code, 'docker_failed');
});

test('a swarm that is choosing a leader is told apart: it is worth waiting for', async () => {
  const said =
    'rpc error: code = Unknown desc = The swarm does not have a leader. It is possible that too few managers are online.';
  assert.equal((await failure(json(503, { message: said }))).code, 'cluster_no_quorum');
  const lonely =
    "rpc error: code = FailedPrecondition desc = can't remove member from the raft: this would result in a loss of quorum";
  assert.equal((await failure(json(400, { message: lonely }))).code, 'cluster_no_quorum');
  const starting =
    "This node is not a swarm manager. Worker nodes can't be used to view or modify cluster state.";
  assert.equal((await failure(json(503, { message: starting }))).code, 'cluster_no_quorum');
  const late = 'rpc error: code = DeadlineExceeded desc = context deadline exceeded';
  assert.equal((await failure(json(500, { message: late }))).code, 'cluster_no_quorum');
  const deposed =
    'rpc error: code = Unknown desc = raft: failed to process the request: node lost leader status';
  assert.equal((await failure(json(500, { message: deposed }))).code, 'cluster_no_quorum');
  const outside =
    'Timeout was reached before node joined. The attempt to join the swarm will continue in the background.';
  assert.equal((await failure(json(503, { message: outside }))).code, 'remote_timeout');
});

test('an overlay that Swarm took off the server meanwhile is told apart: asked again, it is there', async () => {
  const overlay = 'network wyfgfjkppg2iup5cnrjj5u9dt not found';
  assert.equal((await failure(json(404, { message: overlay }))).code, 'work_lost');
  assert.equal(
    (await failure(json(404, { message: 'network slipway-net not found' }))).code,
    'docker_failed',
  );
});

test('a socket that is absent, refuses, breaks off or is silent is told apart', async () => {
  assert.equal((await failure({ problem: 'connect:No such file or directory' })).code, 'docker_missing');
  assert.equal((await failure({ problem: 'connect:Connection refused' })).code, 'docker_missing');
  assert.equal((await failure({ problem: 'answer:timed out' })).code, 'remote_timeout');
  assert.equal((await failure({ problem: 'answer:Connection reset by peer' })).code, 'docker_missing');
  assert.equal((await failure('')).code, 'docker_missing');
});
