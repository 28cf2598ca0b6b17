/** An object, read from its first byte to its last. A connection that breaks or stands still is taken up where it ended. */
import { Fault } from '../../../fault.ts';
import { cutShort } from '../storage.ts';
import { isBroken, type S3Client } from './s3-client.ts';
import { faultOfNetwork } from './s3-faults.ts';

/** So much has to have come for a further break to count as the first again. */
const progressBytes = 1024 * 1024;

export async function* readObject(
  client: S3Client,
  key: string,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  let at = 0;
  let began: { readonly bytes: number; readonly etag: string | null } | undefined;
  for (let failures = 0; ; ) {
    const startedAt = at;
    const headers = began === undefined || at === 0 ? {} : resuming(at, began.etag);
    const idle = new AbortController();
    const both = AbortSignal.any([signal, idle.signal]);
    const answer = await client.open({ method: 'GET', key, headers, signal: both });
    began ??= { bytes: lengthOf(answer), etag: answer.headers.get('etag') };
    let broke: unknown;
    try {
      checkPlace(answer, at, began);
      for await (const chunk of unlessIdle(answer, idle, client.idleMs)) {
        at += chunk.length;
        if (at > began.bytes) throw changed('It has more bytes than the storage said.');
        yield chunk;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!isBroken(error)) throw error;
      broke = error;
    }
    if (at === began.bytes) return;
    failures = at - startedAt >= progressBytes ? 1 : failures + 1;
    if (failures >= client.attempts || (began.etag === null && at > 0)) throw ended(at, began.bytes, broke);
    await client.backOff(failures, signal);
  }
}

/** Only of the very object that was begun: another one of the same name would be a mixture. */
function resuming(at: number, etag: string | null): Record<string, string> {
  return { range: `bytes=${at}-`, ...(etag !== null && { 'if-match': etag }) };
}

function checkPlace(
  answer: Response,
  at: number,
  began: { readonly bytes: number; readonly etag: string | null },
): void {
  if (at === 0) {
    if (lengthOf(answer) !== began.bytes) throw changed('It has another length than before.');
    return;
  }
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(answer.headers.get('content-range') ?? '');
  const isSame = Number(range?.[1]) === at && Number(range?.[2]) === began.bytes;
  if (answer.status !== 206 || !isSame || answer.headers.get('etag') !== began.etag)
    throw changed('It cannot be read on from the middle.');
}

function lengthOf(answer: Response): number {
  const length = answer.headers.get('content-length') ?? '';
  if (!/^\d{1,15}$/.test(length)) throw changed('The storage does not say how long it is.');
  return Number(length);
}

/** Counts only while we wait for the store; how long the bytes are being used is not its fault. */
async function* unlessIdle(
  answer: Response,
  idle: AbortController,
  idleMs: number,
): AsyncGenerator<Buffer, void, undefined> {
  if (answer.body === null) return;
  const reader = answer.body.getReader();
  try {
    for (;;) {
      const timer = setTimeout(() => idle.abort(stoodStill(idleMs)), idleMs).unref();
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      yield Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
  } finally {
    // Fails where the body had failed already, and that was told.
    await reader.cancel().catch(() => undefined);
  }
}

function ended(at: number, bytes: number, broke: unknown): Fault {
  if (at === 0 && broke !== undefined) {
    const fault = faultOfNetwork(broke);
    if (fault instanceof Fault) return fault;
  }
  return cutShort(at, bytes);
}

function changed(how: string): Fault {
  return new Fault('storage_failed', `The stored backup cannot be read. ${how}`, {
    hint: 'Try again. If it stays, use another backup.',
  });
}

function stoodStill(idleMs: number): Fault {
  return new Fault('egress_failed', `The storage sent nothing for ${idleMs / 1000} s.`);
}
