/** An answer that tells what happens while it happens, as Server-Sent Events; nothing of it is kept. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../fault.ts';
import { isSamePlace, type Sessions } from '../principal.ts';
import { scopeOf } from './scope.ts';
import { formatEvent, type Streams } from './streams.ts';

export type SendEvent = (kind: string, data: object) => void;

/** `over`: everything was told. `left`: there is more, for who comes back; a stop of the service leaves its readers so. */
export type LiveEnd = 'over' | 'left';

/** The work is told by its signal when nobody listens any more, or may no longer. */
export type LiveEvents = (send: SendEvent, signal: AbortSignal) => Promise<LiveEnd>;

const beatMs = 15_000;
/** What may wait in our memory for one slow reader; then it is cut. */
const mostWaitingBytes = 1024 * 1024;

/** Who may still read, and when that may have changed. */
export interface LiveAccess {
  readonly sessions: Pick<Sessions, 'byCredentials'>;
  readonly streams: Pick<Streams, 'watchAccess'>;
}

export async function sendLive(
  request: FastifyRequest,
  reply: FastifyReply,
  access: LiveAccess,
  events: LiveEvents,
): Promise<void> {
  const over = new AbortController();
  reply.hijack();
  const { raw } = reply;
  // The reader has gone before we began: nobody would tell the work to end.
  if (raw.closed) return;
  raw.once('close', () => over.abort(new Error('the client has gone')));
  const headers: Record<string, string | number | string[]> = {};
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) headers[name] = value;
  raw.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
  });
  const unwatch = watchAccess(request, access, (why) => over.abort(why));
  const beat = setInterval(() => raw.write(':\n\n'), beatMs);
  let position = 0;
  const send: SendEvent = (kind, data) => {
    if (over.signal.aborted) return;
    position += 1;
    // What tells a time of its own keeps it: a line of an app was printed earlier than we pass it on.
    raw.write(formatEvent({ position, kind, at: new Date(), data: { ...data } }));
    if (raw.writableLength > mostWaitingBytes) raw.destroy();
  };
  try {
    if ((await events(send, over.signal)) === 'over') send('end', {});
  } catch (error) {
    // The status is sent by now: what is left is to break off, so that nobody takes it for whole.
    if (!over.signal.aborted) {
      const [level, what] =
        error instanceof Fault
          ? (['info', { reason: error.message }] as const)
          : (['error', { err: error }] as const);
      request.log[level]({ ...what, requestId: request.id }, 'a live answer broke off');
    }
    raw.destroy();
  } finally {
    clearInterval(beat);
    unwatch();
    raw.end();
  }
}

/** A stream may outlive the session that opened it. Where that cannot be known, it ends: the reader comes back. */
export function watchAccess(
  request: FastifyRequest,
  { sessions, streams }: LiveAccess,
  lost: (why: unknown) => void,
): () => void {
  const check = () => {
    mayStillRead(request, sessions).then(
      (may) => !may && lost(new Error('the session has ended')),
      (error: unknown) => {
        request.log.warn({ err: error }, 'could not check the session of a stream');
        lost(error);
      },
    );
  };
  const unwatch = streams.watchAccess(check);
  const beat = setInterval(check, beatMs);
  return () => {
    clearInterval(beat);
    unwatch();
  };
}

async function mayStillRead(
  request: FastifyRequest,
  sessions: Pick<Sessions, 'byCredentials'>,
): Promise<boolean> {
  const { workspaceId, principal } = scopeOf(request);
  const { credential, memberships } = principal;
  const now = (await sessions.byCredentials([credential])).get(credential.id);
  const placeIn = (all: typeof memberships | undefined) => all?.find(({ id }) => id === workspaceId);
  return now !== undefined && isSamePlace(placeIn(now.memberships), placeIn(memberships));
}
