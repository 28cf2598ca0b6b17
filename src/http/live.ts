/** An answer that tells what happens while it happens, as Server-Sent Events; nothing of it is kept. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isSamePlace, type Sessions } from '../principal.ts';
import { scopeOf } from './scope.ts';

export type SendEvent = (kind: string, data: object) => void;

/** The work is told by its signal when nobody listens any more, or may no longer. */
export type LiveEvents = (send: SendEvent, signal: AbortSignal) => Promise<void>;

const beatMs = 15_000;
/** What may wait in our memory for one slow reader; then it is cut. */
const mostWaitingBytes = 1024 * 1024;

export async function sendLive(
  request: FastifyRequest,
  reply: FastifyReply,
  sessions: Pick<Sessions, 'byCredentials'>,
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
  const beat = setInterval(() => {
    raw.write(':\n\n');
    // A stream may outlive the session that opened it. Where that cannot be known, it ends: the reader comes back.
    mayStillRead(request, sessions).then(
      (may) => !may && over.abort(new Error('the session has ended')),
      (error: unknown) => {
        request.log.warn({ err: error }, 'could not check the session of a stream');
        over.abort(error);
      },
    );
  }, beatMs);
  try {
    await events((kind, data) => {
      if (over.signal.aborted) return;
      raw.write(`event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`);
      if (raw.writableLength > mostWaitingBytes) raw.destroy();
    }, over.signal);
  } catch (error) {
    // The status is sent by now: what is left is to break off, so that nobody takes it for whole.
    if (!over.signal.aborted)
      request.log.error({ err: error, requestId: request.id }, 'a live answer broke off');
    raw.destroy();
  } finally {
    clearInterval(beat);
    raw.end();
  }
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
