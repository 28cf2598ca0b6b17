import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { Fault } from '../../fault.ts';
import type { Remote, RemoteStream } from '../../remote/remote.ts';
import { LogTap } from './log-tap.ts';

/** A server whose one channel the test holds in its hands. */
class FakeChannel {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly ended = Promise.withResolvers<{ code: number | null; signal: string | null }>();
  opened = 0;
  #said = '';

  constructor() {
    this.stdin.on('data', (bytes: Buffer) => {
      this.#said += bytes.toString();
    });
  }

  get remote(): Pick<Remote, 'stream'> {
    return {
      stream: async (): Promise<RemoteStream> => {
        this.opened += 1;
        const { stdin, stdout } = this;
        return { stdin, stdout, stderr: new PassThrough(), ended: this.ended.promise };
      },
    };
  }

  /** What came after the script. */
  get asked(): string[] {
    return (this.#said.split('# the end of the script')[1] ?? '').split('\n').slice(0, -1);
  }

  answer(key: number, text: string): void {
    const content = Buffer.from(`2026-11-15T09:30:00Z ${text}`);
    const head = Buffer.alloc(8);
    head[0] = 1;
    head.writeUInt32BE(content.length, 4);
    this.put(key, Buffer.concat([head, content]));
  }

  put(key: number, bytes: Buffer | string): void {
    const all = Buffer.concat([Buffer.from(`${key} ${Buffer.byteLength(bytes)}\n`), Buffer.from(bytes)]);
    // Cut where it hurts: in the middle of everything.
    for (const byte of all) this.stdout.write(Buffer.of(byte));
  }
}

const ok = 'HTTP/1.0 200 OK\r\n\r\n';

function listener(container: string, since?: string) {
  const heard: string[] = [];
  const ends: (Fault | undefined)[] = [];
  return {
    heard,
    ends,
    container,
    since,
    take: ({ bytes }: { bytes: Buffer }) => void heard.push(bytes.toString()),
    ended: (fault: Fault | undefined) => void ends.push(fault),
  };
}

test('many containers share one channel, and each hears its own', async () => {
  const channel = new FakeChannel();
  const tap = await LogTap.open(channel.remote, () => undefined);
  const [one, other] = [listener('a'), listener('b', '7.000000001')];
  tap.follow(one);
  tap.follow(other);
  await until(() => channel.asked.length === 2);
  assert.match(
    channel.asked[0] ?? '',
    /^\+ 1 \/containers\/a\/logs\?follow=1&stdout=1&stderr=1&timestamps=1$/,
  );
  assert.match(channel.asked[1] ?? '', /^\+ 2 \/containers\/b\/logs\?.*&since=7\.000000001$/);
  for (const key of [2, 1]) channel.put(key, ok);
  channel.answer(2, 'from b\n');
  channel.answer(1, 'from a\n');
  await until(() => one.heard.length === 1 && other.heard.length === 1);
  assert.deepEqual([one.heard, other.heard], [['from a\n'], ['from b\n']]);
  assert.equal(channel.opened, 1);
});

test('a container that stops or is gone ends without a fault; one that Docker refuses, with its words', async () => {
  const channel = new FakeChannel();
  const tap = await LogTap.open(channel.remote, () => undefined);
  const [good, bad, gone] = [listener('a'), listener('b'), listener('c')];
  for (const each of [good, bad, gone]) tap.follow(each);
  channel.put(1, ok);
  channel.put(2, 'HTTP/1.0 500 Internal Server Error\r\n\r\n{"message":"no log driver"}');
  channel.put(3, 'HTTP/1.0 404 Not Found\r\n\r\n{"message":"No such container: c"}');
  channel.stdout.write('1 -1\n2 -1\n3 -1\n');
  await until(() => [good, bad, gone].every(({ ends }) => ends.length === 1));
  assert.deepEqual([good.ends[0], gone.ends[0]], [undefined, undefined]);
  assert.match(bad.ends[0]?.evidence ?? '', /no log driver/);
});

test('who leaves hears nothing more, and with the last one the channel is closed', async () => {
  const channel = new FakeChannel();
  let overs = 0;
  const tap = await LogTap.open(channel.remote, () => {
    overs += 1;
  });
  const one = listener('a');
  const leave = tap.follow(one);
  channel.put(1, ok);
  leave();
  leave();
  channel.answer(1, 'late\n');
  const closed = new Promise((resolve) => channel.stdin.once('end', resolve));
  // The wait for the next follower does not keep a process alive; this does.
  const alive = setInterval(() => undefined, 1_000);
  await closed;
  clearInterval(alive);
  assert.deepEqual([one.heard, one.ends, overs, tap.isOver], [[], [], 1, true]);
  assert.deepEqual(channel.asked.slice(1), ['- 1']);
});

test('a connection that breaks is told to all who follow', async () => {
  const channel = new FakeChannel();
  let overs = 0;
  const tap = await LogTap.open(channel.remote, () => {
    overs += 1;
  });
  const all = [listener('a'), listener('b')];
  for (const each of all) tap.follow(each);
  channel.ended.promise.catch(() => undefined);
  const broken = new Fault('remote_unreachable', 'The connection broke.');
  channel.stdout.destroy(broken);
  channel.ended.reject(broken);
  await until(() => all.every(({ ends }) => ends.length === 1));
  assert.deepEqual(
    all.map(({ ends }) => ends[0]?.code),
    ['remote_unreachable', 'remote_unreachable'],
  );
  assert.deepEqual([overs, tap.isOver], [1, true]);
});
