/** A process of its own that puts a large object and prints by how many megabytes its memory grew meanwhile. */
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
const before = process.memoryUsage.rss();
let most = before;
const timer = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 5);
const bytes = Number(megabytes) * MiB;
await storage.put('large', sealStream(key, content(bytes)), { signal });
const read = await checksum(openStream(key, storage.read('large', { signal })));
clearInterval(timer);
await egress.close();
const isSame = read.sha256 === (await checksum(content(bytes))).sha256;
process.stdout.write(JSON.stringify({ grewMegabytes: (most - before) / MiB, isSame }));
