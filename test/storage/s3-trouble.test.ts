import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstPartBytes } from '../../src/adapters/storage/s3/parts.ts';
import { faultOf } from '../support/faults.ts';
import { assertEmpty, checksum, content, signal, startScene } from './support.ts';

const large = 3 * firstPartBytes + 1_234_567;

test('parts that fail are sent again by themselves, and what was sent is not sent twice', async (t) => {
  const { s3, storage, waits } = await startScene(t);
  const expected = await checksum(content(large));
  s3.faults.set({ kind: 'uploads', status: 500, times: 3 });
  assert.deepEqual(await storage.put('a', content(large), { signal }), expected);
  assert.equal(s3.counts.get('PUT part'), 4 + 3);
  s3.faults.set({ kind: 'break_upload', afterBytes: 1_000_000, times: 2 });
  assert.deepEqual(await storage.put('a', content(large), { signal }), expected);
  assert.equal(s3.counts.get('PUT part'), 4 + 3 + 4 + 2);
  assert.deepEqual(await checksum(storage.read('a', { signal })), expected);
  assert.equal(waits.length, 5);
});

test('a store that asks to slow down is given the time it asks for', async (t) => {
  const { s3, storage, waits } = await startScene(t);
  s3.faults.set({ kind: 'uploads', status: 503, retryAfterSeconds: 7, times: 2 });
  await storage.put('a', content(1000), { signal });
  assert.deepEqual(waits, [7000, 7000]);
});

test('a store that stays out of order, stays broken or is full leaves nothing, and is told as such', async (t) => {
  const { s3, storage } = await startScene(t);
  const put = () => faultOf(() => storage.put('a', content(large), { signal }));
  s3.faults.set({ kind: 'uploads', status: 503 });
  const busy = await put();
  assert.deepEqual([busy.code, /SlowDown/.test(busy.evidence ?? '')], ['storage_unreachable', true]);
  s3.faults.clear();
  s3.faults.set({ kind: 'break_upload', afterBytes: 1000 });
  assert.equal((await put()).code, 'storage_unreachable');
  for (const status of [507, 403] as const) {
    s3.faults.clear();
    s3.faults.set({ kind: 'quota', bytes: 2 * firstPartBytes, status });
    const full = await put();
    assert.equal(full.code, 'storage_full');
    assert.match(full.evidence ?? '', /StorageFull|QuotaExceeded/);
  }
  assertEmpty(s3);
});

test('a source that breaks and whoever stops it leave nothing, and are told as they are', async (t) => {
  const { s3, storage } = await startScene(t);
  async function* breaking() {
    yield* content(large);
    throw new Error('the source broke');
  }
  await assert.rejects(storage.put('a', breaking(), { signal }), /the source broke/);
  const stop = new AbortController();
  async function* stopped() {
    yield* content(2 * firstPartBytes);
    stop.abort(new Error('enough'));
    yield* content(2 * firstPartBytes);
  }
  await assert.rejects(storage.put('a', stopped(), { signal: stop.signal }), /enough/);
  assertEmpty(s3);
});

test('joining the parts is tried again where its answer is an error or is lost', async (t) => {
  const { s3, storage } = await startScene(t);
  const expected = await checksum(content(large));
  s3.faults.set({ kind: 'complete_error', times: 2 });
  assert.deepEqual(await storage.put('a', content(large), { signal }), expected);
  s3.faults.set({ kind: 'complete_lost', times: 1 });
  assert.deepEqual(await storage.put('b', content(large), { signal }), expected);
  assert.deepEqual(await checksum(storage.read('b', { signal })), expected);
  s3.faults.set({ kind: 'complete_error' });
  const fault = await faultOf(() => storage.put('c', content(large), { signal }));
  assert.equal(fault.code, 'storage_unreachable');
  assert.deepEqual([s3.objects.list().length, s3.objects.uploads().length], [2, 0]);
});

test('a store that keeps something else than it was sent is found out, and the object is taken away', async (t) => {
  const { s3, storage } = await startScene(t);
  for (const bytes of [1000, large]) {
    s3.faults.set({ kind: 'store_damaged', times: 1 });
    const fault = await faultOf(() => storage.put('a', content(bytes), { signal }));
    assert.deepEqual([fault.code, /checksum/.test(fault.message)], ['storage_failed', true]);
    assertEmpty(s3);
  }
});

test('where tags say nothing of the content, it is read back and compared', async (t) => {
  const { s3, storage } = await startScene(t);
  s3.faults.set({ kind: 'opaque_tags' });
  for (const bytes of [1000, large]) {
    assert.deepEqual(await storage.put('a', content(bytes), { signal }), await checksum(content(bytes)));
    await storage.remove('a', { signal });
    s3.faults.set({ kind: 'store_damaged', times: 1 });
    const fault = await faultOf(() => storage.put('a', content(bytes), { signal }));
    assert.deepEqual([fault.code, /Read back/.test(fault.message)], ['storage_failed', true]);
    assertEmpty(s3);
  }
});

test('a read that breaks goes on where it was, to the last byte', async (t) => {
  const { s3, storage, waits } = await startScene(t);
  const expected = await storage.put('a', content(large), { signal });
  s3.faults.set({ kind: 'break_download', afterBytes: 3_000_001, times: 4 });
  assert.deepEqual(await checksum(storage.read('a', { signal })), expected);
  assert.equal(s3.counts.get('GET object'), 5);
  assert.equal(waits.length, 4);
});

test('a read that breaks for good ends with a fault, not as if it were whole', async (t) => {
  const { s3, storage } = await startScene(t);
  await storage.put('a', content(large), { signal });
  s3.faults.set({ kind: 'break_download', afterBytes: 100_000 });
  const fault = await faultOf(() => checksum(storage.read('a', { signal })));
  assert.equal(fault.code, 'storage_failed');
  assert.match(fault.message, new RegExp(`of ${large} bytes`));
});

test('an object that is replaced or removed while it is read is never mixed', async (t) => {
  const { s3, storage } = await startScene(t);
  await storage.put('a', content(large), { signal });
  for (const [change, code] of [
    [() => storage.put('a', content(large + 1), { signal }), 'storage_failed'],
    [() => storage.remove('a', { signal }), 'backup_missing'],
  ] as const) {
    s3.faults.set({ kind: 'break_download', afterBytes: 2_000_000, times: 1 });
    let isChanged = false;
    const fault = await faultOf(async () => {
      for await (const _chunk of storage.read('a', { signal })) {
        if (!isChanged) await change();
        isChanged = true;
      }
    });
    assert.equal(fault.code, code);
  }
});

test('whoever stops a read, by leaving or by the signal, lets go of the connection', async (t) => {
  const { storage } = await startScene(t);
  await storage.put('a', content(large), { signal });
  for await (const _chunk of storage.read('a', { signal })) break;
  const stop = new AbortController();
  await assert.rejects(async () => {
    for await (const _chunk of storage.read('a', { signal: stop.signal })) stop.abort(new Error('enough'));
  }, /enough/);
});
