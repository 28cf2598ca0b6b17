/**
 * One object, uploaded whole or not at all. What fits into one part is one request; more is sent in parts, two at a time
 * while the next is gathered. A part that fails is sent again by itself. Where it fails for good, the parts that are
 * there are given up, so that nobody pays for them.
 */
import { createHash } from 'node:crypto';
import { Fault } from '../../../fault.ts';
import { mostParts, type Part, partsOf } from './parts.ts';
import { uploadIdIn } from './s3-answers.ts';
import type { S3Client } from './s3-client.ts';
import { faultOfError } from './s3-faults.ts';

export interface Uploaded {
  /** What the store's own tag of the object has to be; undefined where its tags are not made of the content. */
  readonly etag: string | undefined;
}

interface Sent {
  readonly number: number;
  readonly etag: string;
  readonly md5: string;
}

const atOnce = 2;
/** Larger ones go one by one: they are in memory. */
const largePartBytes = 32 * 1024 * 1024;
const abortMs = 30_000;

export async function upload(
  client: S3Client,
  key: string,
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<Uploaded> {
  const parts = partsOf(content);
  try {
    const first = await parts.next();
    if (first.done) throw new Error('content of no part');
    const part = first.value;
    if (!part.isLast) return await uploadParts(client, key, part, parts, signal);
    const sent = await putPart(client, key, {}, part, signal);
    return { etag: sent.etag === part.md5 ? part.md5 : undefined };
  } finally {
    await parts.return();
  }
}

async function uploadParts(
  client: S3Client,
  key: string,
  first: Part,
  rest: AsyncIterable<Part>,
  signal: AbortSignal,
): Promise<Uploaded> {
  const began = await client.askFor({ method: 'POST', key, query: { uploads: '' }, signal });
  const uploadId = uploadIdIn(began.text);
  const failed = new AbortController();
  const under = new Set<Promise<void>>();
  const sent: Sent[] = [];
  const either = AbortSignal.any([signal, failed.signal]);
  const send = (part: Part) => {
    const query = { partNumber: String(part.number), uploadId };
    const sending = putPart(client, key, query, part, either)
      .then(
        (done) => void sent.push(done),
        // The first that fails ends the others; it is thrown where the next part would be sent.
        (error: unknown) => failed.abort(error),
      )
      .finally(() => {
        part.release();
        under.delete(sending);
      });
    under.add(sending);
  };
  try {
    send(first);
    for await (const part of rest) {
      if (part.number > mostParts) throw tooLarge();
      const most = part.bytes.length > largePartBytes ? 1 : atOnce;
      while (under.size >= most) await Promise.race(under);
      either.throwIfAborted();
      send(part);
    }
    await Promise.all(under);
    either.throwIfAborted();
    sent.sort((one, other) => one.number - other.number);
    const etag = tagOf(sent);
    await complete(client, key, uploadId, sent, signal);
    return { etag };
  } catch (error) {
    failed.abort(error);
    await Promise.all(under);
    await giveUp(client, key, uploadId);
    throw error;
  }
}

async function putPart(
  client: S3Client,
  key: string,
  query: Readonly<Record<string, string>>,
  part: Part,
  signal: AbortSignal,
): Promise<Sent> {
  const { number, bytes, md5, sha256 } = part;
  const headers = { 'content-md5': Buffer.from(md5, 'hex').toString('base64') };
  const answer = await client.askFor({ method: 'PUT', key, query, headers, body: { bytes, sha256 }, signal });
  return { number, md5, etag: unquoted(answer.headers.get('etag')) };
}

/** An upload that is not known any more may have been completed by a try whose answer was lost: who asked looks. */
async function complete(
  client: S3Client,
  key: string,
  uploadId: string,
  sent: readonly Sent[],
  signal: AbortSignal,
): Promise<void> {
  const parts = sent.map(
    ({ number, etag }) =>
      `<Part><PartNumber>${number}</PartNumber><ETag>&quot;${escaped(etag)}&quot;</ETag></Part>`,
  );
  const body = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`;
  const headers = { 'content-type': 'application/xml' };
  const answer = await client.ask({ method: 'POST', key, query: { uploadId }, headers, body, signal });
  if ('code' in answer && answer.code !== 'NoSuchUpload') throw faultOfError(answer, client.place);
}

/** MD5 of the MD5s, where the store's tags of the parts are MD5s at all; encrypted ones are not. */
function tagOf(sent: readonly Sent[]): string | undefined {
  const same = sent.filter(({ etag, md5 }) => etag === md5).length;
  if (same === 0) return undefined;
  if (same < sent.length)
    throw new Fault(
      'storage_failed',
      'The storage has another checksum for a part than the one it was sent.',
      {
        hint: 'Try again. If it stays, the storage cannot be trusted.',
      },
    );
  const hash = createHash('md5');
  for (const { md5 } of sent) hash.update(md5, 'hex');
  return `${hash.digest('hex')}-${sent.length}`;
}

/** Why the upload failed is what counts; what cannot be given up now is found by `clearBroken`. */
async function giveUp(client: S3Client, key: string, uploadId: string): Promise<void> {
  const signal = AbortSignal.timeout(abortMs);
  await client.ask({ method: 'DELETE', key, query: { uploadId }, signal }).catch(() => undefined);
}

export function unquoted(etag: string | null): string {
  return (etag ?? '').replace(/^W\//, '').replace(/^"|"$/g, '');
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);
}

function tooLarge(): Fault {
  return new Fault('storage_full', 'The backup is larger than an object of the storage can be.');
}
