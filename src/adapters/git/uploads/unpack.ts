/** The tar file inside an upload, unpacked as it arrives, and no more of it than the limits allow. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { errorCode, errorText, Fault } from '../../../fault.ts';
import { refusedArchive, tooLarge } from './archive-faults.ts';

export interface ArchiveLimits {
  /** As it is sent. */
  readonly maxSentBytes: number;
  /** As the tar file that it holds. */
  readonly maxUnpackedBytes: number;
  readonly maxFiles: number;
}

const megabyte = 2 ** 20;
/** More than source code, text and even databases of zeros shrink by; what is small may do so further. */
const largestRatio = 200;
const smallBytes = 64 * megabyte;

export async function* unpack(sent: AsyncIterable<Buffer>, limits: ArchiveLimits): AsyncGenerator<Buffer> {
  const sizes = { sent: 0, unpacked: 0 };
  for await (const chunk of inflated(countedSent(sent, sizes, limits))) {
    sizes.unpacked += chunk.length;
    requireRoom(sizes, limits);
    yield chunk;
  }
}

async function* countedSent(
  sent: AsyncIterable<Buffer>,
  sizes: { sent: number },
  { maxSentBytes }: ArchiveLimits,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of sent) {
      sizes.sent += chunk.length;
      if (sizes.sent > maxSentBytes) throw sentTooLarge(maxSentBytes);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault('bad_request', `The upload broke off: ${errorText(error)}.`, { cause: error });
  }
}

export function sentTooLarge(maxSentBytes: number): Fault {
  return tooLarge(
    `it is larger than ${inMegabytes(maxSentBytes)} MB as it is sent`,
    'SLIPWAY_LIMIT_UPLOAD_MB',
  );
}

function requireRoom(sizes: { sent: number; unpacked: number }, { maxUnpackedBytes }: ArchiveLimits): void {
  if (sizes.unpacked > maxUnpackedBytes)
    throw tooLarge(
      `unpacked it is larger than ${inMegabytes(maxUnpackedBytes)} MB`,
      'SLIPWAY_LIMIT_UPLOAD_UNPACKED_MB',
    );
  if (sizes.unpacked > smallBytes && sizes.unpacked > sizes.sent * largestRatio)
    throw tooLarge(`it unpacks to more than ${largestRatio} times its size`);
}

/** Compressed by gzip or not: told by its first bytes, whatever the request calls it. */
async function* inflated(sent: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const first = await sent.next();
  if (first.done) throw refusedArchive('It is empty.');
  const isGzip = first.value[0] === 0x1f && (first.value.length < 2 || first.value[1] === 0x8b);
  const all = putBack(first.value, sent);
  if (!isGzip) return yield* all;
  const gunzip = createGunzip({ chunkSize: 64 * 1024 });
  const feeding = pipeline(Readable.from(all, { objectMode: false }), gunzip);
  feeding.catch(() => undefined);
  try {
    for await (const chunk of gunzip) yield chunk;
    await feeding;
  } catch (error) {
    throw errorCode(error)?.startsWith('Z_') ? refusedArchive(whatGzipSays(error), error) : error;
  }
}

async function* putBack(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

function whatGzipSays(error: unknown): string {
  const isCut = errorCode(error) === 'Z_BUF_ERROR';
  return isCut ? 'Its compressed data breaks off.' : `Its compressed data is damaged: ${errorText(error)}.`;
}

function inMegabytes(bytes: number): number {
  return Math.floor(bytes / megabyte);
}
