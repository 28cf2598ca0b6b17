import assert from 'node:assert/strict';
import { once } from 'node:events';
import { duplexPair, PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { carry } from './tunnels.ts';

const long = 600_000;

function scene(idleMs = long, signal = new AbortController().signal) {
  const [here, socket] = duplexPair();
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const ended = carry(socket, { stdin, stdout }, idleMs, signal);
  return { here, socket, stdin, stdout, ended };
}

test('bytes go both ways, and the last ones arrive though the other end takes none any more', async () => {
  const { here, stdin, stdout, ended } = scene();
  here.write('ask');
  assert.equal(String((await once(stdin, 'data'))[0]), 'ask');
  stdout.write('answer, ');
  // As a program that ends: its input is gone with what it still says.
  stdin.destroy(new Error('it has ended'));
  stdout.end('and farewell');
  assert.equal(await text(here), 'answer, and farewell');
  assert.equal(await ended, undefined);
});

test('who says that there is no more is answered all the same', async () => {
  const { here, stdin, stdout, ended } = scene();
  here.end('all');
  assert.equal(await text(stdin), 'all');
  stdout.end('done');
  assert.equal(await text(here), 'done');
  assert.equal(await ended, undefined);
});

test('it ends where nothing moves, where it is told to, and with either side; nothing stays open', async () => {
  const idle = scene(1);
  assert.equal(await idle.ended, 'nothing moved');
  const leaving = new AbortController();
  const told = scene(long, leaving.signal);
  leaving.abort(new Error('the session has ended'));
  assert.equal(await told.ended, 'the session has ended');
  const gone = scene();
  gone.socket.destroy();
  assert.equal(await gone.ended, 'the client has gone');
  const broken = scene();
  broken.stdout.destroy(new Error('the connection to the server was lost'));
  assert.match((await broken.ended) ?? '', /lost/);
  for (const { socket, stdin, stdout } of [idle, told, gone, broken])
    assert.deepEqual([socket.destroyed, stdin.destroyed, stdout.destroyed], [true, true, true]);
});
