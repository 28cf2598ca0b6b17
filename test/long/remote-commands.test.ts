import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { Fault } from '../../src/fault.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import { connect, failsWith, letIn } from '../support/remote.ts';
import { until } from '../support/until.ts';

const lab = await openLab();
const megabytes = 1024 * 1024;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

const running = async (server: TestServer, pattern: string) =>
  (await lab.client.console(server.about.name, 'pgrep', '-f', '-x', pattern)).stdout.trim() !== '';

test('arguments, output, exit codes and signals arrive as they are', async (t) => {
  const remote = connect(t, await lab.shared('bare'));
  const hostile = ['', '-n', "a'b", '$(id)', '`id`', 'x\ny', '\\', '*', 'é\u{1f6a2}', "'; touch /canary; '"];
  const { stdout } = await remote.run(['printf', '%s\\0', ...hostile]);
  assert.deepEqual(stdout.toString('utf8').split('\0').slice(0, -1), hostile);
  assert.equal(await remote.readFile('/canary'), undefined);

  const mixed = await remote.run(['sh', '-c', 'cat; echo oops >&2; exit 3'], { input: 'in' });
  assert.deepEqual(
    { ...mixed, stdout: mixed.stdout.toString(), stderr: mixed.stderr.toString() },
    {
      code: 3,
      signal: null,
      stdout: 'in',
      stderr: 'oops\n',
    },
  );
  const killed = await remote.run(['sh', '-c', 'kill -SEGV $$']);
  assert.deepEqual([killed.code, killed.signal], [null, 'SIGSEGV']);
  assert.equal((await remote.run(['no-such-program'])).code, 127);
  await assert.rejects(
    remote.output(['sh', '-c', 'echo it broke >&2; exit 9']),
    (error) => failsWith('remote_failed')(error) && error instanceof Fault && error.evidence === 'it broke',
  );
  assert.equal((await remote.script('echo "$2$1"', ['a b', 'c'])).toString(), 'ca b\n');
  await assert.rejects(remote.script('false; echo on', []), failsWith('remote_failed'));
});

test('20 MB go both ways unharmed, as a buffer, as a stream and through both at once', async (t) => {
  const remote = connect(t, await lab.shared('bare'));
  const bytes = randomBytes(20 * megabytes);
  const sum = await remote.output(['sha256sum'], { input: bytes });
  assert.equal(sum.toString().split(' ')[0], sha256(bytes));
  const back = await remote.output(['cat'], {
    input: Readable.from([bytes]),
    maxOutputBytes: 21 * megabytes,
  });
  assert.equal(sha256(back), sha256(bytes));

  const streams = await remote.stream(['cat']);
  const parts: Buffer[] = [];
  await Promise.all([
    pipeline(Readable.from(slices(bytes)), streams.stdin),
    pipeline(streams.stdout, async (source) => {
      for await (const part of source) parts.push(part);
    }),
  ]);
  assert.deepEqual(await streams.ended, { code: 0, signal: null });
  assert.equal(sha256(Buffer.concat(parts)), sha256(bytes));
});

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += 100_000) yield bytes.subarray(from, from + 100_000);
}

test('who does not read holds the sender up: nothing piles up on either side', async (t) => {
  const server = await lab.shared('bare');
  const remote = connect(t, server);
  const unread = await remote.stream(['sh', '-c', 'head -c 100000000 /dev/zero; echo done >/tmp/done']);
  await until(() => unread.stdout.readableLength > 200_000, 'the first output');
  const full = await remote.stream(['sh', '-c', 'sleep 600']);
  let written = 0;
  while (full.stdin.write(Buffer.alloc(100_000))) written += 1;
  const taken = await until(
    () => (full.stdin.writableNeedDrain && full.stdin.writableLength > 0 ? written : undefined),
    'the channel to be full',
  );
  assert.ok(taken * 100_000 < 10 * megabytes, `${taken} writes were taken`);
  assert.equal(await remote.readFile('/tmp/done'), undefined);
  let read = 0;
  for await (const chunk of unread.stdout) read += chunk.length;
  assert.equal(read, 100_000_000);
});

test('thirty commands at once share eight channels, and all of them end well', async (t) => {
  const server = await lab.shared('bare');
  const remote = connect(t, server);
  const script =
    'mkdir -p /tmp/open; mine=$(mktemp -p /tmp/open); sleep 0.1; ls /tmp/open | wc -l; rm "$mine"';
  const many = Array.from({ length: 30 }, (_, index) =>
    remote.output(['sh', '-c', `echo ${index}; ${script}`]),
  );
  const told = (await Promise.all(many)).map((each) => each.toString().trim().split('\n').map(Number));
  assert.deepEqual(
    told.map(([index]) => index),
    Array.from({ length: 30 }, (_, index) => index),
  );
  assert.ok(Math.max(...told.map(([, open]) => open ?? 0)) <= 8);
});

test('a server that allows two sessions is worked on with two', async (t) => {
  const server = await lab.shared('bare');
  const { name } = server.about;
  await lab.client.console(
    name,
    'sh',
    '-c',
    'echo MaxSessions 2 >/etc/ssh/sshd_config.d/few.conf; systemctl restart ssh',
  );
  const remote = connect(t, server);
  const many = Array.from({ length: 12 }, (_, index) =>
    remote.output(['sh', '-c', `sleep 0.05; echo ${index}`]),
  );
  assert.equal((await Promise.all(many)).length, 12);
  // Nor does it matter that they leave no session for ending what runs too long.
  const long = Array.from({ length: 2 }, () => remote.run(['sleep', '1003'], { timeoutMs: 500 }));
  for (const each of long) await assert.rejects(each, failsWith('remote_timeout'));
  await until(async () => !(await running(server, 'sleep 1003')), 'both to be gone');
  assert.equal((await remote.run(['true'])).code, 0);
});

test('a command that is aborted or takes too long is ended on the server, with its children', async (t) => {
  for (const variant of ['bare', 'sudo'] as const) {
    const server = await lab.fresh(t, variant);
    const remote = connect(t, server, variant === 'sudo' ? await letIn(lab, server) : {});
    const stubborn = ['sh', '-c', 'trap "" HUP INT TERM PIPE; sleep 1001 & sleep 1002; wait'];
    await assert.rejects(remote.run(stubborn, { timeoutMs: 700 }), failsWith('remote_timeout'));
    const gone = async () => !(await running(server, 'sleep 100[12]'));
    await until(gone, 'both processes to be gone');

    const abort = new AbortController();
    const aborted = assert.rejects(remote.run(stubborn, { signal: abort.signal }), /enough/);
    await until(() => running(server, 'sleep 1002'), 'it to run');
    abort.abort(new Error('enough'));
    await aborted;
    await until(gone, 'both processes to be gone');
    await assert.rejects(remote.run(['true'], { signal: abort.signal }), /enough/);

    // More of them than there are channels: none keeps its place.
    const many = Array.from({ length: 12 }, () => remote.run(stubborn, { timeoutMs: 1_500 }));
    const ends = await Promise.allSettled(many);
    assert.ok(ends.every((end) => end.status === 'rejected' && failsWith('remote_timeout')(end.reason)));
    assert.equal((await remote.run(['true'], { timeoutMs: 20_000 })).code, 0);
    await until(gone, 'all processes to be gone');
  }
});

test('output without end is cut off, and the program that made it is ended', async (t) => {
  const server = await lab.shared('bare');
  const remote = connect(t, server);
  await assert.rejects(remote.run(['yes'], { maxOutputBytes: megabytes }), failsWith('remote_failed'));
  await until(async () => !(await running(server, 'yes')), '`yes` to be gone');
  const streams = await remote.stream(['yes']);
  streams.stdout.destroy();
  await assert.rejects(streams.ended, failsWith('remote_failed'));
  await until(async () => !(await running(server, 'yes')), '`yes` to be gone');
});

test('a user that is not root works by sudo, and is told where sudo refuses', async (t) => {
  const server = await lab.shared('sudo');
  const remote = connect(t, server, await letIn(lab, server));
  assert.equal((await remote.output(['id', '-un'])).toString(), 'root\n');
  assert.equal((await remote.output(['id', '-un'], { asRoot: false })).toString(), 'deploy\n');
  assert.equal((await remote.run(['sh', '-c', 'echo "sudo, they said" >&2; exit 1'])).code, 1);
  await remote.writeFile('/etc/slipway-test', 'x', { mode: 0o600 });
  assert.equal((await remote.output(['stat', '-c', '%a %U', '/etc/slipway-test'])).toString(), '600 root\n');

  await lab.client.console(server.about.name, 'rm', '/etc/sudoers.d/test');
  await assert.rejects(remote.run(['true']), failsWith('sudo_refused'));
  assert.equal((await remote.run(['true'], { asRoot: false })).code, 0);
});
