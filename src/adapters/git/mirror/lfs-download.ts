/**
 * Fetches what LFS pointers stand for, by the batch API of Git LFS. Every request goes through the fetch function that
 * was handed in, which guards where it leads. Nothing is stored whose size and hash are not the pointer's.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { errorText, Fault } from '../../../fault.ts';
import type { OutboundFetch } from '../../../outbound-fetch.ts';
import type { LfsPointer } from '../objects/lfs-pointers.ts';
import type { Credentials, Source } from '../transport/transport.ts';

export interface LfsRequest {
  readonly source: Source;
  readonly folder: string;
  readonly pointers: readonly LfsPointer[];
  readonly maxBytes: number;
  /** Called while it grows; fails where it is too much for all together. */
  readonly watch: () => void;
  readonly timeoutMs: number;
  readonly fetch: OutboundFetch;
  readonly signal: AbortSignal;
}

/** How much may arrive between two looks at how much it is. */
const watchBytes = 8 * 1024 * 1024;
const batchSize = 100;
const largestAnswer = 4 * 1024 * 1024;
const lfsType = 'application/vnd.git-lfs+json';

export async function downloadLfs(request: LfsRequest): Promise<void> {
  const { folder, maxBytes, source } = request;
  if (source.url.scheme === 'ssh')
    throw new Fault('git_failed', 'The repository uses Git LFS, which is not fetched over ssh.', {
      hint: 'Connect the repository by its https address.',
    });
  const wanted = new Map(request.pointers.map((pointer) => [pointer.oid, pointer]));
  const total = [...wanted.values()].reduce((sum, { size }) => sum + size, 0);
  if (total > maxBytes)
    throw new Fault('repository_too_large', `The LFS files of the commit are larger than ${maxBytes} bytes.`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const missing = [...wanted.values()].filter(({ oid }) => !existsSync(join(folder, oid)));
  makeRoom(folder, wanted, maxBytes - missing.reduce((sum, { size }) => sum + size, 0));
  for (let from = 0; from < missing.length; from += batchSize) {
    const batch = missing.slice(from, from + batchSize);
    const actions = await askBatch(request, batch);
    for (const pointer of batch) {
      const action = actions.get(pointer.oid);
      if (!action) throw failed(request, `no way was given to ${pointer.oid}`);
      await download(request, pointer, action);
    }
  }
}

const Action = Type.Object({
  href: Type.String(),
  header: Type.Optional(Type.Record(Type.String(), Type.String())),
});
type Action = Static<typeof Action>;
const Batch = Type.Object({
  objects: Type.Array(
    Type.Object({
      oid: Type.String(),
      actions: Type.Optional(Type.Object({ download: Type.Optional(Action) })),
    }),
  ),
});

async function askBatch(request: LfsRequest, batch: readonly LfsPointer[]): Promise<Map<string, Action>> {
  const base = request.source.url.text.replace(/\/+$/, '').replace(/(\.git)?$/, '.git');
  const answer = await request.fetch(`${base}/info/lfs/objects/batch`, {
    method: 'POST',
    headers: { accept: lfsType, 'content-type': lfsType, ...authorization(request.source.credentials) },
    body: JSON.stringify({
      operation: 'download',
      transfers: ['basic'],
      hash_algo: 'sha256',
      objects: batch,
    }),
    signal: request.signal,
    maxBodyBytes: largestAnswer,
    bodyTimeoutMs: 30_000,
  });
  if (answer.status === 401 || answer.status === 403)
    throw new Fault(
      'provider_rejected',
      `${request.source.url.host} refuses the credentials for the LFS files.`,
    );
  if (answer.status !== 200) throw failed(request, `the batch request was answered with ${answer.status}`);
  const body = await jsonOf(request, answer);
  if (!Value.Check(Batch, body)) throw failed(request, 'the answer of the batch request is not understood');
  return new Map(
    body.objects.flatMap(({ oid, actions }) => (actions?.download ? [[oid, actions.download] as const] : [])),
  );
}

async function download(
  request: LfsRequest,
  { oid, size }: LfsPointer,
  { href, header = {} }: Action,
): Promise<void> {
  const headers = Object.fromEntries(
    Object.entries(header).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const isOurs = URL.parse(href)?.origin === new URL(request.source.url.text).origin;
  const proof = isOurs && !('authorization' in headers) ? authorization(request.source.credentials) : {};
  const answer = await request.fetch(href, {
    method: 'GET',
    headers: { ...proof, ...headers },
    signal: request.signal,
    maxBodyBytes: size + 1,
    bodyTimeoutMs: request.timeoutMs,
  });
  if (answer.status !== 200 || !answer.body)
    throw failed(request, `${oid} was answered with ${answer.status}`);
  const half = join(request.folder, `${randomBytes(6).toString('hex')}.half`);
  const hash = createHash('sha256');
  let arrived = 0;
  let watched = 0;
  request.watch();
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      arrived += chunk.length;
      hash.update(chunk);
      if (arrived > size) return done(failed(request, `${oid} is larger than its pointer says`));
      if (arrived - watched >= watchBytes) {
        watched = arrived;
        try {
          request.watch();
        } catch (error) {
          return done(error instanceof Error ? error : new Error(errorText(error)));
        }
      }
      done(null, chunk);
    },
  });
  try {
    const { signal } = request;
    await pipeline(Readable.fromWeb(answer.body), check, createWriteStream(half, { mode: 0o600 }), {
      signal,
    });
    if (arrived !== size || hash.digest('hex') !== oid)
      throw failed(request, `${oid} does not have the right bytes`);
    renameSync(half, join(request.folder, oid));
  } catch (error) {
    request.signal.throwIfAborted();
    throw error instanceof Fault ? error : failed(request, errorText(error));
  } finally {
    rmSync(half, { force: true });
  }
}

/** What this commit does not need goes, once all of it together would be too much. */
function makeRoom(folder: string, wanted: ReadonlyMap<string, LfsPointer>, left: number): void {
  const stored = readdirSync(folder).map((name) => ({ name, size: statSync(join(folder, name)).size }));
  if (stored.reduce((sum, { size }) => sum + size, 0) <= left) return;
  for (const { name } of stored) if (!wanted.has(name)) rmSync(join(folder, name), { force: true });
}

function authorization(login: Credentials | undefined): Record<string, string> {
  if (!login || !('password' in login)) return {};
  const pair = Buffer.from(`${login.username}:${login.password.reveal()}`).toString('base64');
  return { authorization: `Basic ${pair}` };
}

async function jsonOf(request: LfsRequest, answer: Response): Promise<unknown> {
  try {
    return await answer.json();
  } catch (error) {
    throw failed(request, errorText(error));
  }
}

function failed({ source: { url } }: LfsRequest, evidence: string): Fault {
  return new Fault('git_failed', `The LFS files of ${url.text} could not be fetched.`, {
    hint: 'See that they were pushed, and that the LFS quota at the provider is not used up.',
    evidence,
  });
}
