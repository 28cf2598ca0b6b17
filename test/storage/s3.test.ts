import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { firstPartBytes } from '../../src/adapters/storage/s3/parts.ts';
import { Fault } from '../../src/fault.ts';
import { Secret } from '../../src/secret.ts';
import { faultOf } from '../support/faults.ts';
import { assertEmpty, checksum, content, signal, startScene } from './support.ts';

const large = 3 * firstPartBytes + 1_234_567;

test('what is put is read back byte for byte: nothing, little, one part exactly, and many', async (t) => {
  const { s3, storage } = await startScene(t);
  for (const bytes of [0, 1000, firstPartBytes, firstPartBytes + 1, large]) {
    const expected = await checksum(content(bytes));
    assert.deepEqual(await storage.put('w-1/b-1.dump', content(bytes), { signal }), expected);
    assert.deepEqual(await checksum(storage.read('w-1/b-1.dump', { signal })), expected);
  }
  assert.deepEqual(
    s3.objects.list().map(({ key }) => key),
    ['of slipway/w-1/b-1.dump'],
    'under the prefix, and replaced each time',
  );
  assert.equal(s3.objects.uploads().length, 0);
  await storage.remove('w-1/b-1.dump', { signal });
  await storage.remove('w-1/b-1.dump', { signal });
  assertEmpty(s3);
  assert.equal(
    (await faultOf(() => checksum(storage.read('w-1/b-1.dump', { signal })))).code,
    'backup_missing',
  );
});

test('names that could leave the prefix are refused before anything is asked', async (t) => {
  const { s3, storage } = await startScene(t);
  for (const name of ['../a', 'a/../b', '/a', '', 'a//b', 'a?b', 'a#b']) {
    await assert.rejects(storage.put(name, content(1), { signal }), /is no name/);
    await assert.rejects(checksum(storage.read(name, { signal })), /is no name/);
    await assert.rejects(storage.remove(name, { signal }), /is no name/);
  }
  assert.equal(s3.counts.size, 0);
});

test('a storage is proven by use, and nothing of the proof stays', async (t) => {
  const { s3, storage } = await startScene(t);
  await storage.prove({ signal });
  assertEmpty(s3);
  assert.deepEqual([...s3.counts.keys()].sort(), [
    ...['DELETE object', 'DELETE upload', 'GET object', 'GET uploads'],
    ...['HEAD object', 'POST uploads', 'PUT object'],
  ]);
});

test('wrong keys, bucket, region and rights are refused with the field to look at, and never with the secret', async (t) => {
  const { s3, with: having, storage } = await startScene(t);
  const secret = 'a very secret text';
  const wrong: [object, RegExp, RegExp][] = [
    [{ accessKeyId: 'NOBODY' }, /`accessKeyId`/, /InvalidAccessKeyId: The AWS Access Key Id/],
    [{ secretAccessKey: new Secret(secret) }, /`secretAccessKey`/, /SignatureDoesNotMatch/],
    [{ bucket: 'other' }, /`bucket`/, /NoSuchBucket/],
    [{ region: 'eu-west-9' }, /`region` to us-east-1/, /expecting 'us-east-1'/],
  ];
  for (const [change, hint, evidence] of wrong) {
    const fault = await faultOf(() => having(change).prove({ signal }));
    assert.equal(fault.code, 'storage_refused');
    assert.match(fault.hint ?? '', hint);
    assert.match(fault.evidence ?? '', evidence);
    assert.equal(JSON.stringify([fault, fault.message, fault.stack]).includes(secret), false);
  }
  s3.faults.set({ kind: 'refuse' });
  for (const work of [
    () => storage.prove({ signal }),
    () => storage.put('a', content(large), { signal }),
    () => checksum(storage.read('a', { signal })),
    () => storage.remove('a', { signal }),
    () => storage.clearBroken('a', { signal }),
  ])
    assert.equal((await faultOf(work)).code, 'storage_refused');
  s3.faults.clear();
  s3.faults.set({ kind: 'redirect', region: 'ap-south-2' });
  const fault = await faultOf(() => storage.prove({ signal }));
  assert.deepEqual([fault.code, /ap-south-2/.test(fault.message)], ['storage_refused', true]);
});

test('a store that is not there is unreachable, and one on a forbidden address is refused', async (t) => {
  const { with: having, waits } = await startScene(t);
  const gone = having({ endpoint: 'http://127.0.0.1:9' });
  assert.equal((await faultOf(() => gone.put('a', content(10), { signal }))).code, 'storage_unreachable');
  assert.equal(waits.length, 5, 'it was tried six times');
  assert.equal((await faultOf(() => gone.prove({ signal }))).code, 'storage_unreachable');
  assert.equal(waits.length, 6, 'a proof is not waited for so long');
  const fetch = () => Promise.reject(new Fault('egress_refused', 'The address is private.'));
  const refused = await faultOf(() => having({ fetch }).prove({ signal }));
  assert.deepEqual([refused.code, refused.hint], ['storage_refused', 'Check `endpoint`.']);
});

test('an answer without end is not read to its end', async (t) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/xml' });
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, '<a>')));
    };
    response.on('drain', more);
    more();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const { with: having } = await startScene(t);
  const endless = having({ endpoint: `http://127.0.0.1:${address.port}` });
  const fault = await faultOf(() => endless.clearBroken('a', { signal }));
  assert.equal(fault.code, 'storage_unreachable');
  assert.match(fault.message, /more than \d+ bytes/);
});

test('broken uploads are cleared under the names asked for, page by page, and nothing else', async (t) => {
  const { s3, storage } = await startScene(t);
  for (let index = 0; index < 12; index += 1) s3.objects.begin(`of slipway/w-1/b-${index}`);
  s3.objects.begin('of slipway/w-2/b');
  s3.objects.begin('of others/w-1/b');
  await storage.put('w-1/b-1', content(10), { signal });
  await storage.clearBroken('w-1/', { signal });
  const left = s3.objects.uploads().map(({ key }) => key);
  assert.deepEqual(left, ['of others/w-1/b', 'of slipway/w-2/b']);
  assert.equal(s3.counts.get('GET uploads'), 3);
  assert.equal(s3.objects.list().length, 1);
});
