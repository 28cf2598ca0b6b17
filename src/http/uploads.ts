/** For paths whose body is no JSON and has no end in sight: it is read by the handler, as it arrives. */
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Fault } from '../fault.ts';
import { takesItsTime } from './requests.ts';
import type { RouteSettings } from './route.ts';
import type { Routes } from './routes.ts';
import type { HttpServer } from './server.ts';

/** Without a byte for so long, an upload is given up. */
const stallMs = 120_000;

export type UploadOptions = NonNullable<RouteSettings<never>['options']>;

/** `refusal` says how it is to be sent, where it comes as something else. */
export function uploadRoutes(
  routes: Routes,
  mediaTypes: string[],
  refusal: Fault,
  declare: (route: Routes, options: UploadOptions) => void,
): void {
  routes.encapsulate((server, route) => {
    server.removeAllContentTypeParsers();
    server.addContentTypeParser(mediaTypes, (_request, _payload, done) => done(null, undefined));
    server.addContentTypeParser('*', (_request, _payload, done) => done(refusal));
    declare(route, optionsOf(server));
  });
}

function optionsOf({ validatorCompiler }: HttpServer): UploadOptions {
  return {
    // The body is described for the document, and read by the handler.
    validatorCompiler: (part) => {
      if (part.httpPart === 'body') return () => true;
      if (!validatorCompiler) throw new Error('there is no validator');
      return validatorCompiler(part);
    },
    // Answered at once, whatever is still on its way: who sends sees it and can stop.
    onError: async ({ raw }) => passOver(raw),
  };
}

/** For so long what is left of a refused body may go on arriving. */
const lingerMs = 60_000;

/** While the body is read: what is announced of its size is 0 where nothing is. */
export async function whileUploading<T>(
  { headers, raw }: FastifyRequest,
  work: (announcedBytes: number) => Promise<T>,
): Promise<T> {
  const over = takesItsTime(raw.socket, stallMs);
  try {
    return await work(Number(headers['content-length'] ?? 0));
  } finally {
    over();
  }
}

/** The body as it arrives. Who stops reading it in the middle can still answer. */
export function bodyOf(raw: IncomingMessage): AsyncIterable<Buffer> {
  return raw.iterator({ destroyOnReturn: false });
}

/**
 * Throws the rest of a body away as it comes. A connection that is closed with bytes unread is reset, and on a slow link
 * the reset ends the sender before it has seen the answer.
 */
function passOver(raw: IncomingMessage): void {
  if (raw.destroyed || raw.complete) return;
  const over = takesItsTime(raw.socket, lingerMs);
  const late = setTimeout(() => raw.socket.destroy(), lingerMs);
  finished(raw, () => {
    clearTimeout(late);
    over();
  });
  raw.resume();
}
