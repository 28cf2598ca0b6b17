/** An answer that tells what happens while it happens, as Server-Sent Events; nothing of it is kept. */
import type { FastifyReply, FastifyRequest } from 'fastify';

export type SendEvent = (kind: string, data: object) => void;

/** The work is told by its signal when nobody listens any more. */
export async function sendLive(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (send: SendEvent, signal: AbortSignal) => Promise<void>,
): Promise<FastifyReply> {
  const gone = new AbortController();
  reply.hijack();
  const { raw } = reply;
  raw.once('close', () => gone.abort(new Error('the client has gone')));
  const headers: Record<string, string | number | string[]> = {};
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) headers[name] = value;
  raw.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
  });
  const beat = setInterval(() => raw.write(':\n\n'), 15_000);
  try {
    await work((kind, data) => {
      if (!gone.signal.aborted) raw.write(`event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`);
    }, gone.signal);
  } catch (error) {
    // The status is sent by now: what is left is to break off, so that nobody takes it for whole.
    if (!gone.signal.aborted)
      request.log.error({ err: error, requestId: request.id }, 'a live answer broke off');
    raw.destroy();
  } finally {
    clearInterval(beat);
    raw.end();
  }
  return reply;
}
