import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import ssh2 from 'ssh2';
import { labHosts } from '../../../test/support/remote.ts';
import { until } from '../../../test/support/until.ts';
import { Fault } from '../../fault.ts';
import { generateKeyPair } from '../keys/keys.ts';
import { connectWith } from '../ssh/connect.ts';
import type { Connection } from '../ssh/connection.ts';
import { RemoteProcess } from './remote-process.ts';

/** Answers each command with a megabyte; one that is called `wait` never ends. */
async function connectedTo(t: TestContext): Promise<Connection> {
  const { privateKey } = generateKeyPair('test');
  const server = new ssh2.Server({ hostKeys: [privateKey.reveal()] }, (client) => {
    client.on('error', () => undefined);
    client.on('authentication', (login) => login.accept());
    client.on('session', (accept) =>
      accept().on('exec', (start, _, { command }) => {
        const channel = start();
        if (command.includes('wait')) return;
        channel.write(Buffer.alloc(1024 * 1024));
        channel.exit(0);
        channel.end();
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = Object(server.address());
  const auth = { privateKey };
  const connection = await connectWith({
    host: '127.0.0.1',
    port,
    username: 'root',
    auth,
    resolve: labHosts,
  });
  t.after(async () => {
    await connection.close();
    server.close();
  });
  return connection;
}

test('a command that has ended is forgotten, however long its connection lasts', async (t) => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc');
  const connection = await connectedTo(t);
  const run = async () => {
    const process = await RemoteProcess.start(connection, ['print'], false);
    const printed = process.collect(2 * 1024 * 1024);
    process.channel.end();
    assert.equal((await process.ended).code, 0);
    assert.equal(printed().stdout.length, 1024 * 1024);
    return new WeakRef(process);
  };
  const ended: WeakRef<RemoteProcess>[] = [];
  for (let count = 0; count < 5; count += 1) ended.push(await run());
  // The last one may still lie in a buffer of the library.
  await until(() => {
    collectGarbage();
    return ended.slice(0, -1).every((each) => each.deref() === undefined);
  }, 'the commands to be forgotten');
  assert.ok(connection.isOpen);
});

test('a command whose connection is lost says so', async (t) => {
  const connection = await connectedTo(t);
  const process = await RemoteProcess.start(connection, ['wait'], false);
  const lost = assert.rejects(
    process.ended,
    (error) => error instanceof Fault && error.code === 'remote_unreachable',
  );
  await connection.close();
  await lost;
});
