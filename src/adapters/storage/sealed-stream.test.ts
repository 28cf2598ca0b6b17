import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { faultOf } from '../../../test/support/faults.ts';
import { Random } from '../../../test/support/random.ts';
import { openStream, sealStream } from './sealed-stream.ts';
import type { Stored } from './storage.ts';
import { hashing } from './storage.ts';

const key = randomBytes(32);
const header = 8 + 1 + 32 + 16 + 16;
const block = 256 * 1024;
const sealedBlock = block + 16;

async function* pieces(bytes: Buffer, size = 64 * 1024): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function whole(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const found: Buffer[] = [];
  for await (const each of content) found.push(Buffer.from(each));
  return Buffer.concat(found);
}

const sealed = (bytes: Buffer, size?: number) => whole(sealStream(key, pieces(bytes, size)));
const opened = (bytes: Buffer, size?: number) => whole(openStream(key, pieces(bytes, size)));
const codeOf = async (bytes: Buffer, size?: number) => (await faultOf(() => opened(bytes, size))).code;

test('what is sealed opens again, for every length around a block and however it is cut on its way', async () => {
  const random = new Random(7);
  const lengths = [0, 1, 15, 16, 17, block - 1, block, block + 1, 2 * block, 3 * block + 5];
  for (const length of lengths) {
    const bytes = randomBytes(length);
    const made = await sealed(bytes, random.between(1, 100_000) + (length > 1000 ? 1000 : 0));
    assert.equal(made.length, header + length + 16 * Math.max(1, Math.ceil(length / block)));
    for (const size of [header, header + 1, 1_000_000, random.between(500, 50_000)])
      assert.ok((await opened(made, size)).equals(bytes), `${length} in pieces of ${size}`);
  }
  const small = await sealed(Buffer.from('small'));
  assert.equal((await opened(small, 1)).toString(), 'small');
});

test('the same content is never sealed the same way, and shows nothing of itself', async () => {
  const bytes = Buffer.from('a telling sentence, a telling sentence');
  const [one, other] = [await sealed(bytes), await sealed(bytes)];
  assert.equal(one.includes('telling'), false);
  assert.equal(one.subarray(9).equals(other.subarray(9)), false);
});

test('a change of any single byte is found as damage, also in the header', async () => {
  const made = await sealed(randomBytes(200));
  for (let at = 0; at < made.length; at += 1) {
    for (const bit of [0x01, 0x80]) {
      const wrong = Buffer.from(made);
      wrong[at] = (wrong[at] ?? 0) ^ bit;
      assert.equal(await codeOf(wrong), 'backup_damaged', `byte ${at}`);
    }
  }
});

test('a cut at any byte is found as damage, also between two blocks', async () => {
  const made = await sealed(randomBytes(300));
  for (let length = 0; length < made.length; length += 1)
    assert.equal(await codeOf(made.subarray(0, length)), 'backup_damaged', `cut to ${length}`);
  const long = await sealed(randomBytes(3 * block));
  for (const blocks of [0, 1, 2])
    assert.equal(await codeOf(long.subarray(0, header + blocks * sealedBlock)), 'backup_damaged');
});

test('blocks that were moved, dropped, doubled, taken from elsewhere or added are found as damage', async () => {
  const bytes = randomBytes(4 * block);
  const made = await sealed(bytes);
  const other = await sealed(bytes);
  const start = made.subarray(0, header);
  const blockOf = (from: Buffer, index: number) =>
    from.subarray(header + index * sealedBlock, header + (index + 1) * sealedBlock);
  const [a, b, c, d] = [0, 1, 2, 3].map((index) => blockOf(made, index));
  assert.ok(a && b && c && d);
  const wrong = {
    moved: [a, c, b, d],
    dropped: [a, b, d],
    'the first dropped': [b, c, d],
    doubled: [a, b, b, c, d],
    'the last doubled': [a, b, c, d, d],
    'the last first': [d],
    'of another stream of the same key': [a, blockOf(other, 1), c, d],
    'a byte added': [a, b, c, d, Buffer.of(0)],
    'another stream added': [a, b, c, d, other],
    'nothing but the beginning': [],
  };
  for (const [how, blocks] of Object.entries(wrong))
    assert.equal(await codeOf(Buffer.concat([start, ...blocks])), 'backup_damaged', how);
  assert.ok((await opened(Buffer.concat([start, a, b, c, d]))).equals(bytes), 'put together right, it opens');
});

test('another key is told from damage, and nothing is handed out', async () => {
  const made = await sealed(randomBytes(1000));
  let seen = 0;
  const fault = await faultOf(async () => {
    for await (const chunk of openStream(randomBytes(32), pieces(made))) seen += chunk.length;
  });
  assert.deepEqual([fault.code, seen], ['backup_key_mismatch', 0]);
});

test('what is no sealed stream, and one of a format to come, are told as such', async () => {
  assert.equal(await codeOf(randomBytes(1000)), 'backup_damaged');
  const made = Buffer.from(await sealed(Buffer.from('x')));
  made[8] = 2;
  const open = made.subarray(0, header - 16);
  createHash('sha256')
    .update(open)
    .digest()
    .copy(made, header - 16, 0, 16);
  assert.match((await faultOf(() => opened(made))).hint ?? '', /newer Slipway/);
});

test('whoever stops reading lets go of the source, and so does a header that is refused', async () => {
  let isClosed = false;
  async function* source(bytes: Buffer) {
    try {
      yield* pieces(bytes, 100);
    } finally {
      isClosed = true;
    }
  }
  await faultOf(() => whole(openStream(key, source(randomBytes(1000)))));
  assert.equal(isClosed, true);
  isClosed = false;
  for await (const _chunk of sealStream(key, source(randomBytes(3 * block)))) if (_chunk.length > 1000) break;
  assert.equal(isClosed, true);
});

test('counting hands on every byte and tells their number and checksum once, at the end', async () => {
  const bytes = randomBytes(100_000);
  const told: Stored[] = [];
  const through = await whole(hashing(pieces(bytes, 999), (seen) => told.push(seen)));
  assert.ok(through.equals(bytes));
  assert.deepEqual(told, [{ bytes: 100_000, sha256: createHash('sha256').update(bytes).digest('hex') }]);
  async function* breaking() {
    yield bytes;
    throw new Error('broke off');
  }
  await assert.rejects(whole(hashing(breaking(), (seen) => told.push(seen))), /broke off/);
  assert.equal(told.length, 1);
});
