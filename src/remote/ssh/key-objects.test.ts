import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import ssh2, { type Connection, type ServerChannel } from 'ssh2';
import { generateKeyPair } from '../keys/keys.ts';
import { algorithmsWith } from './algorithms.ts';
import { exchangeKeys, useKeyObjects } from './key-objects.ts';

/** A server that sends back what it gets, and the client's side of a connection to it. */
async function connected(t: TestContext, prepare: (client: ssh2.Client) => void) {
  const hostKeys = [generateKeyPair('host').privateKey.reveal()];
  const accepted = Promise.withResolvers<Connection>();
  const server = new ssh2.Server({ hostKeys }, (connection) => {
    connection.on('authentication', (input) => input.accept());
    connection.on('error', () => undefined);
    connection.on('session', (accept) =>
      accept().on('exec', (take) => {
        const channel: ServerChannel = take();
        channel.pipe(channel);
      }),
    );
    accepted.resolve(connection);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address: AddressInfo | string | null = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const client = new ssh2.Client();
  t.after(() => client.end());
  prepare(client);
  client.connect({
    sock: connect(port, '127.0.0.1'),
    username: 'anyone',
    algorithms: algorithmsWith(['ssh-ed25519']),
  });
  await once(client, 'ready');
  return { client, peer: await accepted.promise };
}

/** What comes back of it. */
function echo(client: ssh2.Client, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    client.exec('echo', (error, channel) => {
      if (error) return reject(error);
      channel.end(text);
      let said = '';
      channel.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8');
        if (said.length >= text.length) resolve(said);
      });
    });
  });
}

test('the library’s ciphers take their keys as objects, before and after a change of keys', async (t) => {
  const { client, peer } = await connected(t, useKeyObjects);
  const long = 'slipway '.repeat(40_000);
  // Nothing is left to exchange: both hold objects already.
  assert.equal(exchangeKeys(client), false);
  assert.equal(await echo(client, long), long);
  const changed = once(client, 'handshake');
  peer.rekey();
  await changed;
  assert.equal(await echo(client, long), long);
  assert.equal(exchangeKeys(client), false);
});

test('without us the library keeps bytes: the fields are still where we look for them', async (t) => {
  const { client, peer } = await connected(t, () => undefined);
  assert.equal(exchangeKeys(client), true);
  assert.equal(await echo(client, 'after'), 'after');
  const changed = once(client, 'handshake');
  peer.rekey();
  await changed;
  assert.equal(exchangeKeys(client), true);
  assert.equal(await echo(client, 'after'), 'after');
});
