/** A store that is no S3 but somebody who wants something of us: our time, our memory, or a request somewhere else. */
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { createEgress } from '../../src/adapters/egress/egress.ts';
import { createS3Storage } from '../../src/adapters/storage/s3/s3-storage.ts';
import { Secret } from '../../src/secret.ts';
import { startServer } from '../support/egress-servers.ts';
import { faultOf } from '../support/faults.ts';
import { content, keys, signal } from './support.ts';

async function storageAt(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
) {
  const server = await startServer(t, (request, response) => {
    request.resume().once('end', () => answer(request, response));
  });
  const egress = createEgress({ allowPrivate: true });
  t.after(() => egress.close());
  const place = { endpoint: server.url, region: 'us-east-1', bucket: 'bucket', prefix: 'ours' };
  const secretAccessKey = new Secret(keys.secretAccessKey);
  const options = { ...place, accessKeyId: keys.accessKeyId, secretAccessKey, fetch: egress.fetch };
  return createS3Storage(options, { wait: async () => undefined });
}

function listOf(uploads: readonly string[], next: string): string {
  const items = uploads.map((key) => `<Upload><Key>${key}</Key><UploadId>u</UploadId></Upload>`);
  const more = `<IsTruncated>true</IsTruncated><NextKeyMarker>${next}</NextKeyMarker>`;
  return `<ListMultipartUploadsResult>${items.join('')}${more}</ListMultipartUploadsResult>`;
}

test('whoever lists uploads without end, or round in circles, is not asked for ever', async (t) => {
  const next: Readonly<Record<string, (count: number) => string>> = {
    'without end': (count) => `ours/${String(count).padStart(9, '0')}`,
    'in circles': (count) => `ours/${count % 2}`,
  };
  for (const [how, markerAt] of Object.entries(next)) {
    let count = 0;
    const storage = await storageAt(t, (_request, response) => {
      count += 1;
      // Whoever asks on would never stop; this ends the test.
      if (count > 500) response.statusCode = 403;
      response.end(listOf([], markerAt(count)));
    });
    await storage.clearBroken('', { signal });
    assert.ok(count <= 100, `${how}: asked ${count} times`);
  }
});

test('whoever answers with a mountain of XML is not read, and holds up nobody', async (t) => {
  const names = Array.from({ length: 40_000 }, (_, at) => `ours/${at}`);
  const storage = await storageAt(t, (_request, response) => void response.end(listOf(names, 'n')));
  const fault = await faultOf(() => storage.clearBroken('', { signal }));
  assert.match(`${fault.message} ${fault.evidence}`, /more than \d+ bytes/);
});

test('whoever lists names that lead elsewhere has nothing removed there', async (t) => {
  const removed: (string | undefined)[] = [];
  const storage = await storageAt(t, ({ method, url }, response) => {
    if (method === 'DELETE') removed.push(url);
    const names = [
      'ours/good',
      'ours/../theirs',
      'ours/a/../../b',
      'ours/./c',
      'ours//d',
      'ours/e%2f..',
      'x',
    ];
    const list = listOf(names, 'n').replace('<IsTruncated>true', '<IsTruncated>false');
    response.end(method === 'GET' ? list : '');
  });
  await storage.clearBroken('', { signal });
  assert.deepEqual(removed, ['/bucket/ours/good?uploadId=u']);
});

test('whoever gives back more than was stored is not listened to for longer than that', async (t) => {
  let sent = 0;
  const storage = await storageAt(t, ({ method }, response) => {
    response.setHeader('etag', '"not made of the content"');
    if (method !== 'GET') return void response.end();
    response.setHeader('content-length', String(10 ** 12));
    const chunk = Buffer.alloc(256 * 1024);
    const more = () => {
      // What is taken by the network in between is little beside this.
      if (sent > 2 ** 27) return void response.destroy();
      sent += chunk.length;
      response.write(chunk, (error) => !error && more());
    };
    more();
  });
  const fault = await faultOf(() => storage.put('a', content(1_000), { signal }));
  assert.equal(fault.code, 'storage_failed');
  assert.ok(sent < 2 ** 26, `${sent} bytes were sent`);
});
