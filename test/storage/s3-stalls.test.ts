import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { createEgress } from '../../src/adapters/egress/egress.ts';
import { createS3Storage } from '../../src/adapters/storage/s3/s3-storage.ts';
import { Secret } from '../../src/secret.ts';
import { checksum, content, signal } from './support.ts';

test('a read that stands still is given up and goes on where it was', async (t) => {
  const bytes = Buffer.concat(await Array.fromAsync(content(5_000_000)));
  const ranges: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    ranges.push(request.headers.range);
    response.writeHead(from === 0 ? 200 : 206, {
      etag: '"one"',
      'content-length': bytes.length - from,
      'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
    });
    // The first answer stops in the middle and says nothing more.
    if (from === 0) response.write(bytes.subarray(0, 2_000_000));
    else response.end(bytes.subarray(from));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const egress = createEgress({ allowPrivate: true });
  t.after(async () => {
    await egress.close();
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const storage = createS3Storage(
    {
      endpoint: `http://127.0.0.1:${address.port}`,
      region: 'eu-1',
      bucket: 'backups',
      prefix: '',
      accessKeyId: 'KEY',
      secretAccessKey: new Secret('secret'),
      fetch: egress.fetch,
    },
    { wait: async () => undefined, idleMs: 300 },
  );
  assert.deepEqual(await checksum(storage.read('a', { signal })), await checksum(content(5_000_000)));
  assert.deepEqual(ranges, [undefined, 'bytes=2000000-']);
});
