import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf } from '../../../../test/support/faults.ts';
import { placeOf } from './s3-place.ts';

const names = { endpoint: 'https://s3.example.com', region: 'eu-1', bucket: 'backups', prefix: '' };
const urlOf = (change: Partial<Parameters<typeof placeOf>[0]>, name = 'a/b') => {
  const place = placeOf({ ...names, ...change });
  return String(place.url(place.keyOf(name)));
};

test('the bucket stands in the path unless the host begins with it', () => {
  assert.equal(urlOf({}), 'https://s3.example.com/backups/a/b');
  assert.equal(urlOf({ endpoint: 'https://backups.s3.example.com' }), 'https://backups.s3.example.com/a/b');
});

test('the path of an endpoint stays, and prefixes are encoded and joined with one slash', () => {
  assert.equal(urlOf({ endpoint: 'http://h:9000/storage/s3/' }), 'http://h:9000/storage/s3/backups/a/b');
  const expected = 'https://s3.example.com/backups/my%20data/%C3%BC%2B/a/b';
  assert.equal(urlOf({ prefix: '/my data//ü+/' }), expected);
  assert.equal(
    String(placeOf(names).url(undefined, { uploads: '' })),
    'https://s3.example.com/backups?uploads=',
  );
});

test('what cannot be an endpoint, a bucket, a region or a prefix is refused by the name of its field', async () => {
  const wrong: [string, object][] = [
    ['endpoint', { endpoint: 's3.example.com' }],
    ['endpoint', { endpoint: 'ftp://s3.example.com' }],
    ['endpoint', { endpoint: 'https://key:secret@s3.example.com' }],
    ['endpoint', { endpoint: 'https://s3.example.com/?a=b' }],
    ['bucket', { bucket: '../other' }],
    ['bucket', { bucket: 'a/b' }],
    ['region', { region: 'eu/s3' }],
    ['prefix', { prefix: 'a/../../b' }],
    ['prefix', { prefix: './a' }],
  ];
  for (const [field, change] of wrong) {
    const fault = await faultOf(() => placeOf({ ...names, ...change }));
    assert.equal(fault.code, 'storage_refused');
    assert.match(fault.hint ?? '', new RegExp(`\`${field}\``), JSON.stringify(change));
    assert.equal(JSON.stringify([fault.message, fault.hint]).includes('secret'), false);
  }
});
