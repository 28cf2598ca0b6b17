/**
 * A process of its own, with `--expose-gc`, that puts a large object and prints by how many megabytes that which it
 * holds grew meanwhile. What only waits to be collected is not counted: how much that is depends on the machine's load.
 */
import { createEgress } from '../../src/adapters/egress/egress.ts';
import { createS3Storage } from '../../src/adapters/storage/s3/s3-storage.ts';
import { openStream, sealStream } from '../../src/adapters/storage/sealed-stream.ts';
import { Secret } from '../../src/secret.ts';
import { checksum, content, signal } from './support.ts';

const [endpoint = '', region = '', bucket = '', accessKeyId = '', megabytes = ''] = process.argv.slice(2);
const egress = createEgress({ allowPrivate: true });
const storage = createS3Storage({
  endpoint,
  region,
  bucket,
  prefix: '',
  accessKeyId,
  secretAccessKey: new Secret(process.env.SECRET_KEY ?? ''),
  fetch: egress.fetch,
});
const key = Buffer.alloc(32, 7);
const MiB = 1024 * 1024;

/** Once before it is measured: what is loaded and compiled at first use is no memory of the content. */
await storage.put('warm', sealStream(key, content(20 * MiB)), { signal });
await checksum(openStream(key, storage.read('warm', { signal })));
const held = () => {
  // The second waits for what the first found to be given back.
  global.gc?.();
  global.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
const before = held();
let most = before;
const timer = setInterval(() => {
  most = Math.max(most, held());
}, 25);
const bytes = Number(megabytes) * MiB;
await storage.put('large', sealStream(key, content(bytes)), { signal });
const read = await checksum(openStream(key, storage.read('large', { signal })));
clearInterval(timer);
await egress.close();
const isSame = read.sha256 === (await checksum(content(bytes))).sha256;
process.stdout.write(JSON.stringify({ grewMegabytes: (most - before) / MiB, isSame }));
