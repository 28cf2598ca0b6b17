/** Signatures of requests as S3 wants them: AWS Signature Version 4, in the `Authorization` header. */
import { createHash, createHmac } from 'node:crypto';
import type { Secret } from '../../../secret.ts';

export interface SigningKey {
  readonly region: string;
  readonly service: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
}

export interface Signable {
  readonly method: string;
  /** Its path and query are signed as they stand, so they have to be encoded as `encoded` does. */
  readonly url: URL;
  /** All of them are signed; lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the body, hexadecimal. */
  readonly payload: string;
}

/** The headers, with the date and the signature among them. */
export function signed(request: Signable, key: SigningKey, now: Date): Record<string, string> {
  const time = `${now.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
  const day = time.slice(0, 8);
  const headers: Record<string, string> = { ...request.headers, 'x-amz-date': time };
  const all = Object.entries({ ...headers, host: request.url.host }).sort(byCode);
  const names = all.map(([name]) => name).join(';');
  const canonical = [
    request.method,
    request.url.pathname,
    canonicalQuery(request.url.search),
    ...all.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, ' ')}`),
    '',
    names,
    request.payload,
  ].join('\n');
  const scope = `${day}/${key.region}/${key.service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const ofDay = hmac(`AWS4${key.secretAccessKey.reveal()}`, day);
  const signingKey = [key.region, key.service, 'aws4_request'].reduce(hmac, ofDay);
  const signature = hmac(signingKey, text).toString('hex');
  headers.authorization = `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return headers;
}

/** Everything but letters, digits, `-`, `.`, `_` and `~` as bytes of UTF-8: stricter than URLs are by themselves. */
export function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

export function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function canonicalQuery(search: string): string {
  const pairs = search.slice(1).split('&').filter(Boolean);
  return pairs
    .map((pair): [string, string] => {
      const [name = '', ...value] = pair.split('=');
      return [name, value.join('=')];
    })
    .sort(byCode)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

function byCode([one]: [string, string], [other]: [string, string]): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
