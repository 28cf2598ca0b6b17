import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from '../../../secret.ts';
import { encoded, type SigningKey, sha256, signed } from './sigv4.ts';

const empty = sha256('');

/** The key and the moment of the examples in the documentation of S3. */
const documented: SigningKey = {
  region: 'us-east-1',
  service: 's3',
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: new Secret('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'),
};
const documentedTime = new Date('2013-05-24T00:00:00Z');
const host = 'https://examplebucket.s3.amazonaws.com';

function signatureOf(
  method: string,
  url: string,
  headers: Record<string, string>,
  payload: string,
): { signature: string | undefined; names: string | undefined } {
  const all = { ...headers, 'x-amz-content-sha256': payload };
  const made = signed({ method, url: new URL(url), headers: all, payload }, documented, documentedTime);
  const { authorization = '' } = made;
  return {
    signature: /Signature=([0-9a-f]+)$/.exec(authorization)?.[1],
    names: /SignedHeaders=([^,]+)/.exec(authorization)?.[1],
  };
}

test('the published vector get-vanilla is signed as published', () => {
  const key = {
    region: 'us-east-1',
    service: 'service',
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: new Secret('wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'),
  };
  const request = {
    method: 'GET',
    url: new URL('https://example.amazonaws.com/'),
    headers: {},
    payload: empty,
  };
  assert.deepEqual(signed(request, key, new Date('2015-08-30T12:36:00Z')), {
    'x-amz-date': '20150830T123600Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  });
});

test('the documented GET of an object with a range is signed as documented', () => {
  assert.deepEqual(signatureOf('GET', `${host}/test.txt`, { range: 'bytes=0-9' }, empty), {
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    names: 'host;range;x-amz-content-sha256;x-amz-date',
  });
});

test('the documented PUT of an object is signed as documented, with the dollar of its name encoded', () => {
  const headers = { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' };
  const url = `${host}/${encoded('test$file.text')}`;
  assert.deepEqual(signatureOf('PUT', url, headers, sha256('Welcome to Amazon S3.')), {
    signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    names: 'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
  });
});

test('the documented GET of a setting and of a list are signed as documented, whatever the order of the query', () => {
  const lifecycle = 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543';
  const list = '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7';
  assert.equal(signatureOf('GET', `${host}/?lifecycle`, {}, empty).signature, lifecycle);
  assert.equal(signatureOf('GET', `${host}/?max-keys=2&prefix=J`, {}, empty).signature, list);
  assert.equal(signatureOf('GET', `${host}/?prefix=J&max-keys=2`, {}, empty).signature, list);
});

test('only letters, digits and four signs stay as they are', () => {
  assert.equal(encoded("a-Z.0_~ !'()*/+=&ü"), 'a-Z.0_~%20%21%27%28%29%2A%2F%2B%3D%26%C3%BC');
});
