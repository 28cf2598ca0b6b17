import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { runOver } from '../../src/remote/exec/run-over.ts';
import { connectWith } from '../../src/remote/ssh/connect.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import { failsWith, labHosts, targetOf } from '../support/remote.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

async function connected(t: TestContext, server: TestServer) {
  const { privateKey, hostKey, ...place } = targetOf(server);
  const connection = await connectWith({
    ...place,
    resolve: labHosts,
    auth: { privateKey },
    expectedHostKey: hostKey,
  });
  t.after(() => connection.close());
  return connection;
}

const isRunning = async ({ about }: TestServer, pattern: string) =>
  (await lab.client.console(about.name, 'pgrep', '-f', '-x', pattern)).stdout.trim() !== '';

test('a command over a connection of one’s own has its input, output, code and signal', async (t) => {
  const connection = await connected(t, await lab.shared('bare'));
  const argv = ['sh', '-c', 'cat; printf "%s" "$1" >&2; exit 3', 'sh', "$(id) 'x'"];
  const { stdout, stderr, ...exit } = await runOver(connection, argv, { input: 'given' });
  assert.deepEqual(
    [stdout.toString(), stderr.toString(), exit],
    ['given', "$(id) 'x'", { code: 3, signal: null }],
  );
  // Without an input it finds the end of one, and does not wait.
  assert.equal((await runOver(connection, ['cat'])).stdout.length, 0);
  const killed = await runOver(connection, ['sh', '-c', 'kill -SEGV $$']);
  assert.deepEqual([killed.code, killed.signal], [null, 'SIGSEGV']);
});

test('it ends what takes too long, is aborted or prints without end, and the connection stays good', async (t) => {
  const server = await lab.shared('bare');
  const connection = await connected(t, server);
  const gone = (what: string) => until(async () => !(await isRunning(server, what)), 'its end');
  await assert.rejects(
    runOver(connection, ['sleep', '1010'], { timeoutMs: 300 }),
    failsWith('remote_timeout'),
  );
  await gone('sleep 1010');

  const abort = new AbortController();
  const aborted = assert.rejects(
    runOver(connection, ['sleep', '1011'], { signal: abort.signal }),
    /cancelled/,
  );
  await until(() => isRunning(server, 'sleep 1011'), 'it to run');
  abort.abort(new Error('cancelled'));
  await aborted;
  await gone('sleep 1011');
  // Given up before the server has answered: it may start all the same, and is ended then.
  await assert.rejects(runOver(connection, ['sleep', '1012'], { signal: abort.signal }), /cancelled/);
  await gone('sleep 1012');

  await assert.rejects(runOver(connection, ['yes']), failsWith('remote_failed', /more than 1048576/));
  await gone('yes');
  assert.equal((await runOver(connection, ['true'])).code, 0);
});

test('over a connection that has ended nothing runs, and what ran on it has failed', async (t) => {
  const server = await lab.shared('bare');
  const connection = await connected(t, server);
  const under = assert.rejects(runOver(connection, ['sleep', '1013']), failsWith('remote_unreachable'));
  await until(() => isRunning(server, 'sleep 1013'), 'it to run');
  await lab.client.console(server.about.name, 'pkill', '-f', 'sshd-session: root@notty');
  await under;
  await assert.rejects(runOver(connection, ['true']), failsWith('remote_unreachable'));
});
