import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from '../../secret.ts';
import { justAfter, LogFrames } from './log-frames.ts';
import { LogLines } from './log-lines.ts';

const at = '2026-11-15T09:30:00.123456789Z';

function frame(stream: 1 | 2, text: string, time = at): Buffer {
  const content = Buffer.from(`${time} ${text}`);
  const head = Buffer.alloc(8);
  head[0] = stream;
  head.writeUInt32BE(content.length, 4);
  return Buffer.concat([head, content]);
}

test('frames are read the same however their bytes are cut', () => {
  const head = Buffer.from('HTTP/1.0 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\n');
  const all = Buffer.concat([head, frame(1, 'one\n'), frame(2, 'é two words\n'), frame(1, 'a part')]);
  for (let size = 1; size <= all.length; size += 1) {
    const frames = new LogFrames();
    const pieces = [];
    for (let from = 0; from < all.length; from += size)
      pieces.push(...frames.push(all.subarray(from, from + size)));
    assert.deepEqual(
      pieces.map(({ stream, at: time, bytes }) => [stream, time, bytes.toString()]),
      [
        ['stdout', at, 'one\n'],
        ['stderr', at, 'é two words\n'],
        ['stdout', at, 'a part'],
      ],
    );
    assert.equal(frames.complaint, undefined);
  }
});

test('what Docker says instead of output is no output', () => {
  const frames = new LogFrames();
  assert.deepEqual(
    frames.push(Buffer.from('HTTP/1.0 404 Not Found\r\n\r\n{"message":"No such container: x"}')),
    [],
  );
  assert.match(frames.complaint ?? '', /No such container/);
  assert.equal(new LogFrames().complaint, '');
});

test('one goes on at the very next nanosecond', () => {
  assert.equal(justAfter('1970-01-01T00:00:01.000000000Z'), '1.000000001');
  assert.equal(justAfter('1970-01-01T00:00:01.999999999Z'), '2.000000000');
  assert.equal(justAfter('1970-01-01T00:00:00.5Z'), '0.500000001');
  assert.equal(justAfter('1970-01-01T00:00:07Z'), '7.000000001');
  assert.equal(justAfter(at), '1794735000.123456790');
  for (const wrong of ['', 'now', '2026-11-15', '2026-11-15T09:30:00+01:00', '1&follow=0Z'])
    assert.equal(justAfter(wrong), undefined);
});

const piece = (text: string, stream: 'stdout' | 'stderr' = 'stdout', time = at) => ({
  stream,
  at: time,
  bytes: Buffer.from(text),
});

test('a line is told whole, with the time of its beginning, and each stream for itself', () => {
  const lines = new LogLines([]);
  assert.deepEqual(lines.push(piece('first half, ', 'stdout', 't1')), []);
  assert.deepEqual(lines.push(piece('an error\r\n', 'stderr', 't2')), [
    { stream: 'stderr', at: 't2', line: 'an error' },
  ]);
  assert.deepEqual(lines.push(piece('second half\nnext', 'stdout', 't3')), [
    { stream: 'stdout', at: 't1', line: 'first half, second half' },
  ]);
  assert.deepEqual(lines.end(), [{ stream: 'stdout', at: 't3', line: 'next' }]);
  assert.deepEqual(lines.end(), []);
});

test('a secret is taken out wherever the pieces are cut', () => {
  const text = 'the key is hunter2-hunter2, and aHVudGVyMi1odW50ZXIy in base64\n';
  for (let cut = 1; cut < text.length; cut += 1) {
    const lines = new LogLines([new Secret('hunter2-hunter2')]);
    const told = [text.slice(0, cut), text.slice(cut)].flatMap((part) => lines.push(piece(part)));
    assert.deepEqual(
      told.map(({ line }) => line),
      ['the key is [secret], and [secret] in base64'],
    );
  }
});

test('a line that never ends is told in pieces', () => {
  const lines = new LogLines([]);
  const told = Array.from({ length: 10 }, () => lines.push(piece('x'.repeat(16_000)))).flat();
  assert.ok(told.length >= 9, `${told.length}`);
  assert.ok(told.every(({ line }) => line.length <= 16 * 1024));
  const rest = lines.end();
  assert.equal(
    [...told, ...rest].reduce((sum, { line }) => sum + line.length, 0),
    160_000,
  );
});
