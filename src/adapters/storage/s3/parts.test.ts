import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { firstPartBytes, mostParts, partBytes, partsOf } from './parts.ts';

test('ten thousand parts hold five terabytes, none larger than S3 takes, and the first 33 GB are of one size', () => {
  let sent = 0;
  let largest = 0;
  for (let number = 1; number <= mostParts; number += 1) {
    const size = partBytes(number, sent);
    if (sent < 33e9) assert.equal(size, firstPartBytes);
    sent += size;
    largest = Math.max(largest, size);
  }
  assert.ok(sent > 5 * 1024 ** 4, `${sent} bytes`);
  assert.ok(largest <= 5 * 1024 ** 3, `${largest} bytes`);
});

test('content is cut into parts with their checksums, the last one told, whatever pieces it comes in', async () => {
  for (const length of [0, 1, firstPartBytes, firstPartBytes + 1, 2 * firstPartBytes + 77]) {
    const content = randomBytes(length);
    async function* source() {
      for (let at = 0; at < length; at += 1_234_567) yield content.subarray(at, at + 1_234_567);
    }
    const seen: Buffer[] = [];
    const last: boolean[] = [];
    for await (const part of partsOf(source())) {
      assert.equal(part.number, seen.length + 1);
      assert.equal(part.md5, createHash('md5').update(part.bytes).digest('hex'));
      assert.equal(part.sha256, createHash('sha256').update(part.bytes).digest('hex'));
      seen.push(Buffer.from(part.bytes));
      last.push(part.isLast);
      part.release();
    }
    assert.ok(Buffer.concat(seen).equals(content));
    assert.deepEqual(last, [...seen.slice(1).map(() => false), true]);
    assert.equal(seen.length, Math.max(1, Math.ceil(length / firstPartBytes)));
  }
});

test('memory that was given back is used again', async () => {
  async function* source() {
    for (let index = 0; index < 5; index += 1) yield Buffer.alloc(firstPartBytes, index);
  }
  const rooms = new Set<ArrayBufferLike>();
  for await (const part of partsOf(source())) {
    rooms.add(part.bytes.buffer);
    part.release();
  }
  assert.equal(rooms.size, 1);
});
