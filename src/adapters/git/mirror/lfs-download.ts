/**
 * Fetches what LFS pointers stand for, by the batch API of Git LFS. Every request goes through the fetch function that
 * was handed in, which guards where it leads. Nothing is kept whose size and hash are not the pointer's.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorText, Fault } from '../../../fault.ts';
import type { LfsPointer } from '../objects/lfs-pointers.ts';
import type { Credentials, Source } from '../transport/transport.ts';

/** The part of `fetch` that is needed. It follows no redirect. */
export type FetchLike = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly signal: AbortSignal;
    /** An answer that is larger may be broken off. */
    readonly maxBodyBytes: number;
    readonly bodyTimeoutMs: number;
    readonly redirect: 'manual';
  },
) => Promise<Response>;

export interface LfsWish {
  readonly source: Source;
  readonly folder: string;
  readonly pointers: readonly LfsPointer[];
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly fetch: FetchLike;
  readonly signal: AbortSignal;
}

const batchSize = 100;
const largestAnswer = 4 * 1024 * 1024;
const lfsType = 'application/vnd.git-lfs+json';

export async function downloadLfs(wish: LfsWish): Promise<void> {
  const { folder, maxBytes, source } = wish;
  if (source.url.scheme === 'ssh')
    throw new Fault('git_failed', 'The repository uses Git LFS, which is not fetched over ssh.', {
      hint: 'Connect the repository by its https address.',
    });
  const wanted = new Map(wish.pointers.map((pointer) => [pointer.oid, pointer]));
  const total = [...wanted.values()].reduce((sum, { size }) => sum + size, 0);
  if (total > maxBytes)
    throw new Fault('repository_too_large', `The LFS files of the commit are larger than ${maxBytes} bytes.`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const missing = [...wanted.values()].filter(({ oid }) => !existsSync(join(folder, oid)));
  makeRoom(folder, wanted, maxBytes - missing.reduce((sum, { size }) => sum + size, 0));
  for (let from = 0; from < missing.length; from += batchSize) {
    const batch = missing.slice(from, from + batchSize);
    const actions = await askBatch(wish, batch);
    for (const pointer of batch) {
      const action = actions.get(pointer.oid);
      if (!action) throw failed(wish, `no way was given to ${pointer.oid}`);
      await download(wish, pointer, action);
    }
  }
}

interface Action {
  readonly href: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function askBatch(wish: LfsWish, batch: readonly LfsPointer[]): Promise<Map<string, Action>> {
  const base = wish.source.url.text.replace(/\/+$/, '').replace(/(\.git)?$/, '.git');
  const answer = await wish.fetch(`${base}/info/lfs/objects/batch`, {
    method: 'POST',
    headers: { accept: lfsType, 'content-type': lfsType, ...authorization(wish.source.credentials) },
    body: JSON.stringify({
      operation: 'download',
      transfers: ['basic'],
      hash_algo: 'sha256',
      objects: batch,
    }),
    signal: wish.signal,
    maxBodyBytes: largestAnswer,
    bodyTimeoutMs: 30_000,
    redirect: 'manual',
  });
  if (answer.status === 401 || answer.status === 403)
    throw new Fault(
      'provider_rejected',
      `${wish.source.url.host} refuses the credentials for the LFS files.`,
    );
  if (answer.status !== 200) throw failed(wish, `the batch request was answered with ${answer.status}`);
  const actions = new Map<string, Action>();
  for (const object of listAt(await jsonOf(wish, answer), 'objects')) {
    const oid = at(object, 'oid');
    const action = at(at(object, 'actions'), 'download');
    const href = at(action, 'href');
    if (typeof oid !== 'string' || typeof href !== 'string' || !URL.canParse(href)) continue;
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(Object(at(action, 'header'))))
      if (typeof value === 'string') headers[name.toLowerCase()] = value;
    actions.set(oid, { href, headers });
  }
  return actions;
}

async function download(wish: LfsWish, { oid, size }: LfsPointer, { href, headers }: Action): Promise<void> {
  const isOurs = new URL(href).origin === new URL(wish.source.url.text).origin;
  const proof = isOurs && headers.authorization === undefined ? authorization(wish.source.credentials) : {};
  const answer = await wish.fetch(href, {
    method: 'GET',
    headers: { ...proof, ...headers },
    signal: wish.signal,
    maxBodyBytes: size + 1,
    bodyTimeoutMs: wish.timeoutMs,
    redirect: 'manual',
  });
  if (answer.status !== 200 || !answer.body) throw failed(wish, `${oid} was answered with ${answer.status}`);
  const half = join(wish.folder, `${randomBytes(6).toString('hex')}.half`);
  const hash = createHash('sha256');
  let arrived = 0;
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      arrived += chunk.length;
      hash.update(chunk);
      if (arrived > size) done(failed(wish, `${oid} is larger than its pointer says`));
      else done(null, chunk);
    },
  });
  try {
    const { signal } = wish;
    await pipeline(Readable.fromWeb(answer.body), check, createWriteStream(half, { mode: 0o600 }), {
      signal,
    });
    if (arrived !== size || hash.digest('hex') !== oid)
      throw failed(wish, `${oid} does not have the right bytes`);
    renameSync(half, join(wish.folder, oid));
  } catch (error) {
    wish.signal.throwIfAborted();
    throw error instanceof Fault ? error : failed(wish, errorText(error));
  } finally {
    rmSync(half, { force: true });
  }
}

/** What this commit does not need goes, once all of it together would be too much. */
function makeRoom(folder: string, wanted: ReadonlyMap<string, LfsPointer>, left: number): void {
  const kept = readdirSync(folder).map((name) => ({ name, size: statSync(join(folder, name)).size }));
  if (kept.reduce((sum, { size }) => sum + size, 0) <= left) return;
  for (const { name } of kept) if (!wanted.has(name)) rmSync(join(folder, name), { force: true });
}

function authorization(login: Credentials | undefined): Record<string, string> {
  if (!login || !('password' in login)) return {};
  const pair = Buffer.from(`${login.username}:${login.password.reveal()}`).toString('base64');
  return { authorization: `Basic ${pair}` };
}

async function jsonOf(wish: LfsWish, answer: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (answer.body)
    for await (const chunk of Readable.fromWeb(answer.body)) {
      size += chunk.length;
      if (size > largestAnswer) throw failed(wish, 'the answer of the batch request is too large');
      chunks.push(chunk);
    }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    throw failed(wish, errorText(error));
  }
}

function at(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

function listAt(value: unknown, name: string): unknown[] {
  const found = at(value, name);
  return Array.isArray(found) ? found : [];
}

function failed({ source: { url } }: LfsWish, evidence: string): Fault {
  return new Fault('git_failed', `The LFS files of ${url.text} could not be fetched.`, {
    hint: 'See that they were pushed, and that the LFS quota at the provider is not used up.',
    evidence,
  });
}
