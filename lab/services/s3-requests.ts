/** What each request to the lab's S3 is for, and what comes of it. */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { S3Faults } from './s3-faults.ts';
import { listObjects, listParts, listUploads } from './s3-lists.ts';
import type { Incoming, S3Objects } from './s3-objects.ts';
import { type Received, receive } from './s3-receive.ts';
import { document, element, S3Refusal } from './s3-refusal.ts';

export interface S3Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly body?: string | AsyncIterable<Buffer>;
  readonly breakAfterBytes?: number;
}

interface Asked {
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
}

export interface S3RequestParts {
  readonly objects: S3Objects;
  readonly faults: S3Faults;
  readonly bucket: string;
  readonly counts: Map<string, number>;
  readonly page: number;
}

const most = 10_000;

export class S3Requests {
  readonly #objects: S3Objects;
  readonly #faults: S3Faults;
  readonly #bucket: string;
  readonly #counts: Map<string, number>;
  readonly #page: number;

  constructor({ objects, faults, bucket, counts, page }: S3RequestParts) {
    this.#objects = objects;
    this.#faults = faults;
    this.#bucket = bucket;
    this.#counts = counts;
    this.#page = page;
  }

  /** Undefined: the connection is to be broken. */
  async answer(request: IncomingMessage, payload: string | undefined): Promise<S3Reply | undefined> {
    const { method = '', headers } = request;
    const url = new URL(request.url ?? '/', 'http://s3');
    const [, bucket = '', ...names] = url.pathname.split('/').map(decodeURIComponent);
    const asked = { key: names.join('/'), query: url.searchParams, headers };
    if (bucket !== this.#bucket)
      throw new S3Refusal(404, 'NoSuchBucket', 'The specified bucket does not exist', {
        more: { BucketName: bucket },
      });
    const what = kindOf(asked);
    this.#counts.set(`${method} ${what}`, (this.#counts.get(`${method} ${what}`) ?? 0) + 1);
    const isUpload = method === 'PUT';
    if (isUpload && headers['content-length'] === undefined)
      throw new S3Refusal(411, 'MissingContentLength', 'You must provide the Content-Length HTTP header.');
    if (isUpload) this.#failUploads(asked);
    const breakAfterBytes = isUpload ? this.#faults.take('break_upload')?.afterBytes : undefined;
    const received = await receive(request, { file: this.#objects.newFile(), payload, breakAfterBytes });
    if (received === undefined) return undefined;
    if (isUpload) return this.#put(asked, received);
    try {
      return await this.#do(method, what, asked, received);
    } finally {
      await rm(received.file, { force: true });
    }
  }

  async #do(method: string, what: string, asked: Asked, received: Received): Promise<S3Reply | undefined> {
    const { key, query } = asked;
    const listing = { bucket: this.#bucket, query, page: this.#page };
    switch (`${method} ${what}`) {
      case 'HEAD bucket':
        return { status: 200 };
      case 'GET bucket':
        return xml(listObjects({ ...listing, all: this.#objects.list() }));
      case 'GET uploads':
        return xml(listUploads({ ...listing, all: this.#objects.uploads() }));
      case 'GET upload':
        return xml(listParts(this.#objects.upload(key, query.get('uploadId') ?? ''), this.#bucket));
      case 'GET object':
      case 'HEAD object':
        return this.#get(asked, method === 'GET');
      case 'DELETE object':
        await this.#objects.remove(key);
        return { status: 204 };
      case 'POST uploads': {
        const { id } = this.#objects.begin(key);
        const inside = [element('Bucket', this.#bucket), element('Key', key), element('UploadId', id)];
        return xml(document('InitiateMultipartUploadResult', inside.join('')));
      }
      case 'DELETE upload':
        await this.#objects.abort(this.#objects.upload(key, query.get('uploadId') ?? ''));
        return { status: 204 };
      case 'POST upload':
        return this.#complete(asked, received);
      default:
        throw new S3Refusal(501, 'NotImplemented', `${method} of ${what} is not implemented.`);
    }
  }

  async #put(asked: Asked, received: Received): Promise<S3Reply> {
    const { key, query } = asked;
    try {
      this.#checkQuota(received.bytes);
      const etag = this.#faults.take('opaque_tags') ? randomBytes(16).toString('hex') : received.md5;
      const incoming: Incoming = { file: received.file, bytes: received.bytes, etag };
      if (kindOf(asked) === 'part') {
        const upload = this.#objects.upload(key, query.get('uploadId') ?? '');
        const number = Number(query.get('partNumber'));
        if (!Number.isInteger(number) || number < 1 || number > most)
          throw new S3Refusal(400, 'InvalidArgument', 'Part number must be an integer between 1 and 10000.');
        await this.#objects.putPart(upload, number, incoming);
      } else if (kindOf(asked) === 'object') await this.#objects.put(key, incoming);
      else throw new S3Refusal(501, 'NotImplemented', 'A bucket is not made or changed here.');
      if (kindOf(asked) === 'object' && this.#faults.take('store_damaged'))
        await this.#objects.keepOther(key);
      return { status: 200, headers: { etag: `"${etag}"`, 'content-length': 0 } };
    } catch (error) {
      await rm(received.file, { force: true });
      throw error;
    }
  }

  #get({ key, headers }: Asked, withBody: boolean): S3Reply {
    const { file, bytes, etag, modified } = this.#objects.get(key);
    const match = headers['if-match'];
    if (match !== undefined && match !== `"${etag}"` && match !== etag)
      throw new S3Refusal(412, 'PreconditionFailed', 'At least one of the pre-conditions did not hold', {
        more: { Condition: 'If-Match' },
      });
    const range = rangeOf(headers.range, bytes);
    const common = {
      etag: `"${etag}"`,
      'last-modified': modified.toUTCString(),
      'accept-ranges': 'bytes',
      'content-type': 'binary/octet-stream',
    };
    const [from, to] = range ?? [0, bytes - 1];
    const breaking = withBody ? this.#faults.take('break_download') : undefined;
    return {
      status: range ? 206 : 200,
      headers: {
        ...common,
        'content-length': to - from + 1,
        ...(range && { 'content-range': `bytes ${from}-${to}/${bytes}` }),
      },
      ...(withBody && bytes > 0 && { body: createReadStream(file, { start: from, end: to }) }),
      ...(breaking && { breakAfterBytes: breaking.afterBytes }),
    };
  }

  async #complete({ key, query }: Asked, received: Received): Promise<S3Reply | undefined> {
    const upload = this.#objects.upload(key, query.get('uploadId') ?? '');
    if (this.#faults.take('complete_error'))
      return xml(new S3Refusal(200, 'InternalError', 'We encountered an internal error.').toXml());
    const text = await readFile(received.file, 'utf8');
    const wanted = [...text.matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = '']) => ({
      number: Number(/<PartNumber>(\d+)<\/PartNumber>/.exec(part)?.[1]),
      etag: (/<ETag>(.*?)<\/ETag>/.exec(part)?.[1] ?? '').replaceAll(/&quot;|&#34;|"/g, ''),
    }));
    if (wanted.length === 0)
      throw new S3Refusal(400, 'MalformedXML', 'The XML you provided was not well-formed.');
    const isOpaque = this.#faults.take('opaque_tags') !== undefined;
    const tag = (md5s: string) => (isOpaque ? `${randomBytes(16).toString('hex')}-${wanted.length}` : md5s);
    const { etag } = await this.#objects.complete(upload, wanted, tag);
    if (this.#faults.take('store_damaged')) await this.#objects.keepOther(key);
    if (this.#faults.take('complete_lost')) return undefined;
    const inside = [element('Bucket', this.#bucket), element('Key', key), element('ETag', `"${etag}"`)];
    return xml(document('CompleteMultipartUploadResult', inside.join('')));
  }

  #failUploads(asked: Asked): void {
    const fault = kindOf(asked) === 'bucket' ? undefined : this.#faults.take('uploads');
    if (!fault) return;
    const wish = fault.retryAfterSeconds;
    const headers: Record<string, string> = wish === undefined ? {} : { 'retry-after': String(wish) };
    if (fault.status === 503)
      throw new S3Refusal(503, 'SlowDown', 'Please reduce your request rate.', { headers });
    throw new S3Refusal(500, 'InternalError', 'We encountered an internal error. Please try again.', {
      headers,
    });
  }

  #checkQuota(bytes: number): void {
    const quota = this.#faults.take('quota');
    if (!quota || this.#objects.usedBytes() + bytes <= quota.bytes) return;
    if (quota.status === 403)
      throw new S3Refusal(403, 'QuotaExceeded', 'The quota of the bucket is exceeded.');
    throw new S3Refusal(
      507,
      'XMinioStorageFull',
      'Storage backend has reached its minimum free drive threshold.',
    );
  }
}

function kindOf({ key, query }: Asked): 'bucket' | 'uploads' | 'upload' | 'part' | 'object' {
  if (query.has('uploads')) return 'uploads';
  if (query.has('partNumber')) return 'part';
  if (query.has('uploadId')) return 'upload';
  return key === '' ? 'bucket' : 'object';
}

function rangeOf(header: string | undefined, bytes: number): [number, number] | undefined {
  const found = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (!found || (found[1] === '' && found[2] === '')) return undefined;
  const from = found[1] === '' ? Math.max(0, bytes - Number(found[2])) : Number(found[1]);
  const to = found[1] === '' || found[2] === '' ? bytes - 1 : Math.min(bytes - 1, Number(found[2]));
  if (from > to) throw new S3Refusal(416, 'InvalidRange', 'The requested range is not satisfiable');
  return [from, to];
}

function xml(body: string): S3Reply {
  const length = Buffer.byteLength(body);
  return { status: 200, headers: { 'content-type': 'application/xml', 'content-length': length }, body };
}
