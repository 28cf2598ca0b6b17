/** The body of a request, taken into a file while it comes, and held against every checksum that came with it. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { S3Refusal } from './s3-refusal.ts';

export interface Received {
  readonly file: string;
  readonly bytes: number;
  readonly md5: string;
}

export interface Receiving {
  readonly file: string;
  /** Undefined where the body is not signed. */
  readonly payload: string | undefined;
  readonly breakAfterBytes: number | undefined;
}

/** Undefined where the connection ended before the body did. */
export async function receive(
  request: IncomingMessage,
  { file, payload, breakAfterBytes }: Receiving,
): Promise<Received | undefined> {
  const md5 = createHash('md5');
  const sha256 = createHash('sha256');
  let bytes = 0;
  async function* coming() {
    for await (const chunk of request) {
      bytes += chunk.length;
      if (breakAfterBytes !== undefined && bytes > breakAfterBytes) {
        request.socket.destroy();
        return;
      }
      md5.update(chunk);
      sha256.update(chunk);
      yield chunk;
    }
  }
  try {
    await pipeline(coming, createWriteStream(file, { mode: 0o600 }));
  } catch (error) {
    await rm(file, { force: true });
    if (!request.socket.destroyed) throw error;
  }
  if (request.socket.destroyed) {
    // The client has left, or was made to: there is nobody to tell.
    await rm(file, { force: true });
    return undefined;
  }
  const hashes = { md5: md5.digest(), sha256: sha256.digest() };
  const wrong = wrongWith(request, payload, hashes);
  if (wrong) {
    await rm(file, { force: true });
    throw wrong;
  }
  return { file, bytes, md5: hashes.md5.toString('hex') };
}

function wrongWith(
  { headers }: IncomingMessage,
  payload: string | undefined,
  { md5, sha256 }: { md5: Buffer; sha256: Buffer },
): S3Refusal | undefined {
  if (payload !== undefined && payload !== sha256.toString('hex'))
    return new S3Refusal(
      400,
      'XAmzContentSHA256Mismatch',
      "The provided 'x-amz-content-sha256' header does not match what was computed.",
    );
  const claims: [string | string[] | undefined, Buffer, string][] = [
    [headers['content-md5'], md5, 'The Content-MD5 you specified did not match what we received.'],
    [headers['x-amz-checksum-sha256'], sha256, 'The SHA256 you specified did not match what we received.'],
  ];
  const wrong = claims.find(([claim, hash]) => claim !== undefined && claim !== hash.toString('base64'));
  return wrong && new S3Refusal(400, 'BadDigest', wrong[2]);
}
