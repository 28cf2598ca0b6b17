import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf } from '../../../../test/support/faults.ts';
import { errorIn, uploadIdIn, uploadsIn } from './s3-answers.ts';
import { faultOfError } from './s3-faults.ts';
import { placeOf } from './s3-place.ts';

const place = placeOf({ endpoint: 'https://s3.example.com', region: 'eu-1', bucket: 'backups', prefix: '' });
const errorXml = (code: string, more = '') =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>Words of\n its own</Message>${more}</Error>`;

function faultFor(status: number, text: string, headers: Record<string, string> = {}) {
  const error = errorIn(status, new Headers(headers), text);
  assert.ok(error);
  return faultOfError(error, place);
}

test('each refusal of a store is a fault of its kind, with its words in one line and the field to look at', () => {
  const expected: [number, string, string, RegExp][] = [
    [403, 'InvalidAccessKeyId', 'storage_refused', /`accessKeyId`/],
    [403, 'SignatureDoesNotMatch', 'storage_refused', /`secretAccessKey`/],
    [404, 'NoSuchBucket', 'storage_refused', /`bucket`/],
    [403, 'AccessDenied', 'storage_refused', /rights/],
    [403, 'RequestTimeTooSkewed', 'storage_refused', /clock/],
    [403, 'QuotaExceeded', 'storage_full', /room/],
    [507, 'XMinioStorageFull', 'storage_full', /room/],
    [400, 'EntityTooLarge', 'storage_full', /room/],
    [404, 'NoSuchKey', 'backup_missing', /removed/],
    [500, 'InternalError', 'storage_unreachable', /later/],
    [503, 'SlowDown', 'storage_unreachable', /later/],
    [400, 'BadDigest', 'storage_failed', /words/],
    [412, 'PreconditionFailed', 'storage_failed', /words/],
    [404, 'NoSuchUpload', 'storage_failed', /words/],
  ];
  for (const [status, code, fault, hint] of expected) {
    const found = faultFor(status, errorXml(code));
    assert.equal(found.code, fault, code);
    assert.match(found.hint ?? '', hint, code);
    assert.equal(found.evidence, `status ${status}, ${code}: Words of its own`);
  }
});

test('answers without words are judged by their status', () => {
  const codes = [401, 403, 404, 429, 500, 502, 507].map((status) => faultFor(status, '').code);
  const [refused, unreachable] = ['storage_refused', 'storage_unreachable'];
  assert.deepEqual(codes, [
    ...[refused, refused, 'backup_missing', unreachable, unreachable, unreachable],
    'storage_full',
  ]);
  assert.equal(faultFor(502, '<html><body>Bad gateway</body>').code, 'storage_unreachable');
});

test('a bucket of another region is told with that region, however the store says it', () => {
  const malformed = errorXml('AuthorizationHeaderMalformed', '<Region>us-east-2</Region>');
  const redirect = errorXml('PermanentRedirect', '<Endpoint>backups.s3.amazonaws.com</Endpoint>');
  const header = { 'x-amz-bucket-region': 'us-east-2' };
  for (const fault of [
    faultFor(400, malformed),
    faultFor(301, redirect, header),
    faultFor(301, '', header),
  ]) {
    assert.equal(fault.code, 'storage_refused');
    assert.match(fault.message, /us-east-2, not in eu-1/);
    assert.match(fault.hint ?? '', /`region` to us-east-2/);
  }
  assert.match(faultFor(301, redirect).message, /elsewhere/);
});

test('an error inside a success is an error, and a success is none', () => {
  assert.equal(errorIn(200, new Headers(), errorXml('InternalError'))?.code, 'InternalError');
  assert.equal(errorIn(200, new Headers(), '<CompleteMultipartUploadResult/>'), undefined);
  assert.equal(errorIn(204, new Headers(), ''), undefined);
});

test('entities of a document are not expanded, and what is no list is refused', async () => {
  const bomb = `<!DOCTYPE x [<!ENTITY a "aaaa">]>${errorXml('&a;')}`;
  assert.equal(errorIn(500, new Headers(), bomb)?.code, '');
  for (const text of ['', 'no', '<a/>', '<InitiateMultipartUploadResult/>', bomb]) {
    assert.equal((await faultOf(() => uploadIdIn(text))).code, 'storage_failed');
    assert.equal((await faultOf(() => uploadsIn(text))).code, 'storage_failed');
  }
});

test('a list of uploads is read with none, one and many, and says where it goes on', () => {
  const list = (inside: string) =>
    `<ListMultipartUploadsResult xmlns="x">${inside}</ListMultipartUploadsResult>`;
  const one = (key: string) => `<Upload><Key>${key}</Key><UploadId>7</UploadId></Upload>`;
  assert.deepEqual(uploadsIn(list('')), { uploads: [], next: undefined });
  assert.deepEqual(uploadsIn(list(one('a&amp;b'))).uploads, [{ key: 'a&b', uploadId: '7' }]);
  const markers =
    '<IsTruncated>true</IsTruncated><NextKeyMarker>b</NextKeyMarker><NextUploadIdMarker>7</NextUploadIdMarker>';
  const page = uploadsIn(list(`${markers}${one('a')}${one('b')}`));
  assert.deepEqual([page.uploads.length, page.next], [2, { key: 'b', uploadId: '7' }]);
});
