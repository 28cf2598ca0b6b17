import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { createEgress } from '../../src/adapters/egress/egress.ts';
import { createS3Storage } from '../../src/adapters/storage/s3/s3-storage.ts';
import { openStream, sealStream } from '../../src/adapters/storage/sealed-stream.ts';
import { Secret } from '../../src/secret.ts';
import { faultOf } from '../support/faults.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();
const egress = createEgress({ allowPrivate: true });
after(() => egress.close());
const { secretAccessKey, ...place } = lab.about.s3;
/** A prefix of its own: other files use the same bucket at the same time, so no fault is set here that they would meet. */
const prefix = `storage-${process.pid}`;
const storage = createS3Storage({
  ...place,
  prefix,
  fetch: egress.fetch,
  secretAccessKey: new Secret(secretAccessKey),
});
const { signal } = new AbortController();
const key = randomBytes(32);

test('a sealed backup in the bucket of the lab opens again; damaged or cut there, it is refused', async (t) => {
  t.after(() => storage.remove('a', { signal }));
  await storage.prove({ signal });
  const content = randomBytes(20_000_000);
  const put = () => storage.put('a', sealStream(key, Readable.from([content])), { signal });
  const open = async (by = key) =>
    Buffer.concat(await Array.fromAsync(openStream(by, storage.read('a', { signal }))));
  const stored = await put();
  assert.ok((await open()).equals(content));
  assert.equal((await faultOf(() => open(randomBytes(32)))).code, 'backup_key_mismatch');
  const about = await lab.client.call<{ objects: { key: string; bytes: number }[] }>('GET', '/s3');
  const mine = about.objects.filter((each) => each.key.startsWith(prefix));
  assert.deepEqual(
    mine.map((each) => [each.key, each.bytes]),
    [[`${prefix}/a`, stored.bytes]],
  );

  await lab.client.call('POST', '/s3/objects/damage', { key: `${prefix}/a`, at: 12_345_678 });
  assert.equal((await faultOf(() => open())).code, 'backup_damaged');
  await put();
  await lab.client.call('POST', '/s3/objects/cut', { key: `${prefix}/a`, bytes: 10_000_000 });
  assert.equal((await faultOf(() => open())).code, 'backup_damaged');
});

test('what is asked of the faults of the S3 is checked', async () => {
  const wrong = lab.client.call('PUT', '/s3/faults', { kind: 'explode' });
  await assert.rejects(wrong, /Right is, for example/);
  const missing = lab.client.call('POST', '/s3/objects/damage', { key: 'no-such-object' });
  await assert.rejects(missing, /There is no object/);
});
