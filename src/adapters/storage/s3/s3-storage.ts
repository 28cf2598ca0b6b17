/**
 * Backups in a bucket of any S3. Owns the requests, the upload in parts and the proof that what lies there is what was
 * sent: by its length and its tag where the store's tags are made of the content, and by reading it back where not.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from '../../../clock.ts';
import { Fault } from '../../../fault.ts';
import type { OutboundFetch } from '../../../outbound-fetch.ts';
import type { Secret } from '../../../secret.ts';
import {
  checkBeginning,
  checkName,
  hashing,
  proveStorage,
  type Storage,
  type StorageOptions,
  type Stored,
} from '../storage.ts';
import { listedUploads, uploadIdIn, uploadsIn } from './s3-answers.ts';
import { S3Client } from './s3-client.ts';
import { faultOfError } from './s3-faults.ts';
import { placeOf, type S3Names, type S3Place } from './s3-place.ts';
import { readObject } from './s3-read.ts';
import { unquoted, upload } from './s3-upload.ts';

export interface S3Options extends S3Names {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  /** The guarded way out. */
  readonly fetch: OutboundFetch;
}

/** What tests put in the place of time. */
export interface S3Parts {
  readonly clock?: Clock;
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly idleMs?: number;
}

const attempts = 6;
/** Whoever sets it up is waiting. */
const provingAttempts = 2;
const removeMs = 30_000;
const defaultIdleMs = 60_000;
/** How many lists of uploads are read: what is left the next run finds. */
const mostPages = 50;

export function createS3Storage(options: S3Options, parts: S3Parts = {}): Storage {
  const { region, accessKeyId, secretAccessKey, fetch } = options;
  if (!/^[^\s/,=]{1,256}$/.test(accessKeyId))
    throw new Fault('storage_refused', 'The access key is none.', { hint: 'Check `accessKeyId`.' });
  const connection = {
    place: placeOf(options),
    key: { region, service: 's3', accessKeyId, secretAccessKey },
    fetch,
    clock: parts.clock ?? systemClock,
    wait: parts.wait ?? pause,
    idleMs: parts.idleMs ?? defaultIdleMs,
  };
  const proving = new S3Client({ ...connection, attempts: provingAttempts });
  return {
    ...objectsOf(new S3Client({ ...connection, attempts })),
    async prove(proof) {
      const objects = objectsOf(proving);
      await proveStorage(objects, proof);
      await proveUploads(proving, objects, proof);
    },
  };
}

type Objects = Omit<Storage, 'prove'>;

function objectsOf(client: S3Client): Objects {
  const keyOf = (name: string) => {
    checkName(name);
    return client.place.keyOf(name);
  };
  const drop = (key: string, signal: AbortSignal) => client.askFor({ method: 'DELETE', key, signal });

  return {
    async put(name, content, { signal }) {
      const key = keyOf(name);
      signal.throwIfAborted();
      let stored: Stored | undefined;
      const seen = hashing(content, (end) => {
        stored = end;
      });
      const { etag } = await upload(client, key, seen, signal);
      if (stored === undefined) throw new Error('an upload ended before its content');
      try {
        await verify(client, key, stored, etag, signal);
      } catch (error) {
        // What is not what was sent must not be found under its name; that it was wrong is what is told.
        if (error instanceof Fault && error.code === 'storage_failed')
          await drop(key, AbortSignal.timeout(removeMs)).catch(() => undefined);
        throw error;
      }
      return stored;
    },

    async *read(name, { signal }) {
      yield* readObject(client, keyOf(name), signal);
    },

    async remove(name, { signal }) {
      const answer = await client.ask({ method: 'DELETE', key: keyOf(name), signal });
      if (!('code' in answer)) return;
      const fault = faultOfError(answer, client.place);
      if (fault.code !== 'backup_missing') throw fault;
    },

    async clearBroken(prefix, { signal }) {
      checkBeginning(prefix);
      const begins = client.place.keyOf(prefix);
      let query: Record<string, string> = {
        uploads: '',
        prefix: begins,
        'max-uploads': String(listedUploads),
      };
      for (let pages = 1; ; pages += 1) {
        const { uploads, next } = uploadsIn((await client.askFor({ method: 'GET', query, signal })).text);
        for (const { key, uploadId } of uploads.slice(0, listedUploads)) {
          if (!key.startsWith(begins) || !isOurs(key, client.place)) continue;
          const answer = await client.ask({ method: 'DELETE', key, query: { uploadId }, signal });
          if ('code' in answer && answer.code !== 'NoSuchUpload') throw faultOfError(answer, client.place);
        }
        if (next === undefined) return;
        // A list that does not come to an end, or goes round in circles, would have us ask for ever.
        if (pages >= mostPages) return;
        query = { ...query, 'key-marker': next.key, 'upload-id-marker': next.uploadId };
      }
    },
  };
}

/** Of the names that we give: what a store lists is its word, and may lead out of where we are. */
function isOurs(key: string, place: S3Place): boolean {
  const name = key.slice(place.keyOf('').length);
  try {
    checkName(name);
  } catch {
    return false;
  }
  return place.keyOf(name) === key;
}

/** That the store has what was sent: not that it said so, but what it says of the object now. */
async function verify(
  client: S3Client,
  key: string,
  stored: Stored,
  etag: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const answer = await client.ask({ method: 'HEAD', key, signal });
  if ('code' in answer) {
    const fault = faultOfError(answer, client.place);
    throw fault.code === 'backup_missing' ? broken('It is not there after it was sent.') : fault;
  }
  const length = answer.headers.get('content-length');
  if (length !== null && Number(length) !== stored.bytes)
    throw broken(`It has ${length} bytes there, and ${stored.bytes} were sent.`);
  const tag = unquoted(answer.headers.get('etag'));
  if (etag !== undefined && tag === etag) return;
  // Of the same form, so made of the content in the same way: of another content.
  if (etag !== undefined && sameForm(tag, etag)) throw broken('Its checksum there is another one.');
  const hash = createHash('sha256');
  let seen = 0;
  for await (const chunk of readObject(client, key, signal)) {
    hash.update(chunk);
    seen += chunk.length;
    if (seen > stored.bytes) throw broken('Read back, it has more bytes than were sent.');
  }
  if (hash.digest('hex') !== stored.sha256) throw broken('Read back, it is something else.');
}

function sameForm(tag: string, etag: string): boolean {
  const form = /^[0-9a-f]{32}(-\d+)?$/;
  return form.exec(tag) !== null && form.exec(tag)?.[1] === form.exec(etag)?.[1];
}

/** Large backups need rights that small ones do not: they are missed now, not in the night. */
async function proveUploads(client: S3Client, objects: Objects, { signal }: StorageOptions): Promise<void> {
  const name = 'slipway-proof-upload';
  const key = client.place.keyOf(name);
  const began = await client.askFor({ method: 'POST', key, query: { uploads: '' }, signal });
  const uploadId = uploadIdIn(began.text);
  await client.askFor({ method: 'DELETE', key, query: { uploadId }, signal });
  await objects.clearBroken(name, { signal });
}

function broken(how: string): Fault {
  return new Fault('storage_failed', `The storage does not have the backup as it was sent. ${how}`, {
    hint: 'Try again. If it stays, the storage cannot be trusted.',
  });
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
