/**
 * Whether a request is signed by who has the keys, as S3 checks it: Signature Version 4 in the `Authorization` header.
 * Written from its description and nothing else, so that a mistake in what the service signs is not made here again.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { S3Refusal } from './s3-refusal.ts';

export interface S3Keys {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const form =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;
const skewMs = 15 * 60_000;

/** What the body has to hash to, or undefined where the request says that it is not signed. */
export function checkSignature(request: IncomingMessage, keys: S3Keys): string | undefined {
  const { authorization } = request.headers;
  if (authorization === undefined) throw new S3Refusal(403, 'AccessDenied', 'Access Denied');
  const found = form.exec(authorization);
  if (!found)
    throw new S3Refusal(400, 'AuthorizationHeaderMalformed', 'The authorization header is malformed.');
  const [, keyId = '', day = '', region = '', service = '', names = '', signature = ''] = found;
  if (keyId !== keys.accessKeyId)
    throw new S3Refusal(
      403,
      'InvalidAccessKeyId',
      'The AWS Access Key Id you provided does not exist in our records.',
      { more: { AWSAccessKeyId: keyId } },
    );
  if (region !== keys.region || service !== 's3')
    throw new S3Refusal(
      400,
      'AuthorizationHeaderMalformed',
      `The authorization header is malformed; the region '${region}' is wrong; expecting '${keys.region}'`,
      { more: { Region: keys.region } },
    );
  const time = header(request, 'x-amz-date');
  checkTime(time, day);
  const list = names.split(';');
  checkSignedNames(request, list);
  const payload = header(request, 'x-amz-content-sha256');
  if (!/^([0-9a-f]{64}|UNSIGNED-PAYLOAD)$/.test(payload))
    throw new S3Refusal(400, 'InvalidArgument', 'x-amz-content-sha256 must be UNSIGNED-PAYLOAD or a SHA256.');

  const [path = '', query = ''] = cut(request.url ?? '', '?');
  const canonical = `${request.method}\n${canonicalPath(path)}\n${canonicalQuery(query)}\n${list
    .map((name) => `${name}:${header(request, name)}\n`)
    .join('')}\n${names}\n${payload}`;
  const hashed = createHash('sha256').update(canonical).digest('hex');
  const toSign = `AWS4-HMAC-SHA256\n${time}\n${day}/${region}/s3/aws4_request\n${hashed}`;
  let key: Buffer = Buffer.from(`AWS4${keys.secretAccessKey}`);
  for (const step of [day, region, 's3', 'aws4_request', toSign])
    key = createHmac('sha256', key).update(step).digest();
  if (!timingSafeEqual(key, Buffer.from(signature, 'hex')))
    throw new S3Refusal(
      403,
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
      { more: { AWSAccessKeyId: keyId, StringToSign: toSign, CanonicalRequest: canonical } },
    );
  return payload === 'UNSIGNED-PAYLOAD' ? undefined : payload;
}

function checkTime(time: string, day: string): void {
  const found = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(time);
  const [, year, month, date, hours, minutes, seconds] = found ?? [];
  const at = Date.parse(`${year}-${month}-${date}T${hours}:${minutes}:${seconds}Z`);
  if (Number.isNaN(at) || !time.startsWith(day))
    throw new S3Refusal(403, 'AccessDenied', 'AWS authentication requires a valid Date or x-amz-date header');
  if (Math.abs(Date.now() - at) > skewMs)
    throw new S3Refusal(
      403,
      'RequestTimeTooSkewed',
      'The difference between the request time and the current time is too large.',
      { more: { RequestTime: time, ServerTime: new Date().toISOString() } },
    );
}

/** A header of S3 that is not signed could be put in by anyone on the way. */
function checkSignedNames(request: IncomingMessage, signed: readonly string[]): void {
  const mustBe = Object.keys(request.headers).filter(
    (name) => name.startsWith('x-amz-') || name === 'host' || name === 'content-md5',
  );
  const missing = mustBe.filter((name) => !signed.includes(name));
  if (missing.length > 0 || [...signed].sort().join(';') !== signed.join(';'))
    throw new S3Refusal(
      403,
      'AccessDenied',
      'There were headers present in the request which were not signed',
      {
        more: { HeadersNotSigned: missing.join(', ') },
      },
    );
}

function header(request: IncomingMessage, name: string): string {
  const values: string[] = [];
  for (let at = 0; at < request.rawHeaders.length; at += 2)
    if (request.rawHeaders[at]?.toLowerCase() === name)
      values.push((request.rawHeaders[at + 1] ?? '').trim().replace(/\s+/g, ' '));
  return values.join(',');
}

function canonicalPath(path: string): string {
  return path.split('/').map(again).join('/');
}

function canonicalQuery(query: string): string {
  const pairs = query.split('&').filter((each) => each !== '');
  const ready = pairs.map((pair) => {
    const [name = '', value = ''] = cut(pair, '=');
    return `${again(name)}=${again(value)}`;
  });
  return ready.sort().join('&');
}

/** Decoded and encoded in the one way that is signed. */
function again(text: string): string {
  return [...Buffer.from(decodeURIComponent(text))]
    .map((byte) => {
      const letter = String.fromCharCode(byte);
      return /[A-Za-z0-9._~-]/.test(letter) ? letter : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

function cut(text: string, at: string): [string, string] {
  const index = text.indexOf(at);
  return index === -1 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}
