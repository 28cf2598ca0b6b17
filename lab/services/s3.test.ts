import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sha256, signed } from '../../src/adapters/storage/s3/sigv4.ts';
import { Secret } from '../../src/secret.ts';
import { bucket, region, startS3 } from './s3.ts';

const keys = { accessKeyId: 'LABKEY', secretAccessKey: 'secret' };
const signer = { region, service: 's3', accessKeyId: 'LABKEY', secretAccessKey: new Secret('secret') };

async function start(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'slipway-test-s3-'));
  const s3 = await startS3({ address: '127.0.0.1', port: 0, dir, keys });
  t.after(async () => {
    await s3.close();
    rmSync(dir, { recursive: true });
  });
  const ask = async (
    method: string,
    path: string,
    wish: {
      readonly body?: string;
      readonly headers?: Record<string, string>;
      readonly unsigned?: Record<string, string>;
      readonly payload?: string;
      readonly now?: Date;
    } = {},
  ) => {
    const { body = '', unsigned = {}, payload = sha256(body), now = new Date() } = wish;
    const url = new URL(`${s3.endpoint}/${bucket}${path}`);
    const all = { ...wish.headers, 'x-amz-content-sha256': payload };
    const headers = { ...signed({ method, url, headers: all, payload }, signer, now), ...unsigned };
    const answer = await fetch(url, { method, headers, ...(body !== '' && { body }) });
    const text = await answer.text();
    return {
      status: answer.status,
      code: /<Code>(.*?)<\/Code>/.exec(text)?.[1],
      text,
      headers: answer.headers,
    };
  };
  return { s3, ask };
}

test('only what is signed as it came is done', async (t) => {
  const { s3, ask } = await start(t);
  const codeOf = async (...args: Parameters<typeof ask>) => (await ask(...args)).code;
  assert.equal((await ask('PUT', '/a', { body: 'hello' })).status, 200);
  const unsigned = await fetch(`${s3.endpoint}/${bucket}/a`);
  assert.deepEqual([unsigned.status, /AccessDenied/.test(await unsigned.text())], [403, true]);
  assert.equal(
    await codeOf('PUT', '/a', { body: 'other', payload: sha256('hello') }),
    'XAmzContentSHA256Mismatch',
  );
  assert.equal(await codeOf('GET', '/a', { unsigned: { 'x-amz-meta-a': 'b' } }), 'AccessDenied');
  assert.equal(
    await codeOf('GET', '/a', { unsigned: { 'x-amz-content-sha256': sha256('x') } }),
    'SignatureDoesNotMatch',
  );
  const old = new Date(Date.now() - 16 * 60_000);
  assert.equal(await codeOf('GET', '/a', { now: old }), 'RequestTimeTooSkewed');
  assert.equal(
    await codeOf('GET', '/a', { unsigned: { authorization: 'Bearer a' } }),
    'AuthorizationHeaderMalformed',
  );
  assert.equal((await ask('GET', '/a')).text, 'hello');
});

test('checksums that came along are held against what came', async (t) => {
  const { ask } = await start(t);
  const hash = (name: string, text: string) => createHash(name).update(text).digest('base64');
  const put = async (headers: Record<string, string>) =>
    (await ask('PUT', '/a', { body: 'hello', headers })).code;
  assert.equal(await put({ 'content-md5': hash('md5', 'other') }), 'BadDigest');
  assert.equal(await put({ 'x-amz-checksum-sha256': hash('sha256', 'other') }), 'BadDigest');
  assert.equal((await ask('GET', '/a')).code, 'NoSuchKey', 'nothing of it was kept');
  const right = { 'content-md5': hash('md5', 'hello'), 'x-amz-checksum-sha256': hash('sha256', 'hello') };
  assert.equal(await put(right), undefined);
});

test('ranges, conditions and lists are answered as S3 does', async (t) => {
  const { ask } = await start(t);
  for (const name of ['b/1', 'b/2', 'b/3', 'c']) await ask('PUT', `/${name}`, { body: `0123456789${name}` });
  const part = await ask('GET', '/c', { headers: { range: 'bytes=2-4' } });
  assert.deepEqual([part.status, part.text, part.headers.get('content-range')], [206, '234', 'bytes 2-4/11']);
  assert.equal((await ask('GET', '/c', { headers: { range: 'bytes=-2' } })).text, '9c');
  assert.equal((await ask('GET', '/c', { headers: { range: 'bytes=11-' } })).code, 'InvalidRange');
  assert.equal((await ask('GET', '/c', { headers: { 'if-match': '"no"' } })).code, 'PreconditionFailed');
  const first = (await ask('GET', '?list-type=2&prefix=b%2F&max-keys=2')).text;
  assert.deepEqual(
    [...first.matchAll(/<Key>(.*?)</g)].map((each) => each[1]),
    ['b/1', 'b/2'],
  );
  const token = /<NextContinuationToken>(.*?)</.exec(first)?.[1] ?? '';
  const second = (await ask('GET', `?list-type=2&prefix=b%2F&continuation-token=${token}`)).text;
  assert.deepEqual([/<Key>(.*?)</.exec(second)?.[1], /<IsTruncated>false/.test(second)], ['b/3', true]);
});

test('parts are joined only when they are known, in order and large enough', async (t) => {
  const { s3, ask } = await start(t);
  const id = /<UploadId>(.*?)</.exec((await ask('POST', '/a?uploads=')).text)?.[1] ?? '';
  const part = async (number: number) => {
    const answer = await ask('PUT', `/a?partNumber=${number}&uploadId=${id}`, { body: `part ${number}` });
    return `<Part><PartNumber>${number}</PartNumber><ETag>${answer.headers.get('etag')}</ETag></Part>`;
  };
  const [one, two] = [await part(1), await part(2)];
  const complete = async (...parts: string[]) => {
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    return (await ask('POST', `/a?uploadId=${id}`, { body })).code;
  };
  assert.equal(await complete(one, two), 'EntityTooSmall');
  assert.equal(await complete(one.replace(/"\w+"/, '"no"')), 'InvalidPart');
  s3.objects.upload('a', id).parts.set(1, { file: '', bytes: 6_000_000, etag: 'x' });
  s3.objects.upload('a', id).parts.set(2, { file: '', bytes: 6_000_000, etag: 'x' });
  const known = (number: number) => `<Part><PartNumber>${number}</PartNumber><ETag>"x"</ETag></Part>`;
  assert.equal(await complete(known(2), known(1)), 'InvalidPartOrder');
  assert.equal((await ask('DELETE', `/a?uploadId=${id}`)).status, 204);
  assert.equal(await complete(one), 'NoSuchUpload');
});
