/** The path that takes an upload. Its body is no JSON and has no end in sight: it is read as it arrives. */
import { Fault } from '../../fault.ts';
import { principalOf, scopeOf } from '../../http/access.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { takesItsTime } from '../../http/requests.ts';
import { change, repeatable } from '../../http/route-config.ts';
import { IdParams } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import type { EnvironmentId, ServiceId } from '../../ids.ts';
import { OperationAnswer } from '../operations/schemas.ts';
import type { BackupsContext } from './backups.ts';
import { importTarget, importUpload, uploadTooLarge } from './import-upload.ts';
import { readUpload } from './restore/read-upload.ts';
import * as schemas from './schemas.ts';

/** Without a byte for so long, an upload is given up. */
const stallMs = 120_000;

export function importRoute(app: HttpServer, ctx: BackupsContext, idempotency: Idempotency): void {
  // A context of its own: here alone, bodies are left unread.
  void app.register(async (raw) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null, undefined));
    raw.addContentTypeParser('*', (_request, _payload, done) =>
      done(new Fault('unsupported_media_type', 'The file must be sent as multipart/form-data.')),
    );
    uploadRoute(raw, ctx, idempotency);
  });
}

function uploadRoute(app: HttpServer, ctx: BackupsContext, idempotency: Idempotency): void {
  const compile = app.validatorCompiler;
  app.post(`${apiPrefix}/environments/:id/backups/import`, {
    config: {
      ...change,
      limit: 'trigger',
      rawBody: true,
      faults: [...repeatable, 'server_not_linked', 'disk_full', 'remote_unreachable'],
    },
    schema: {
      tags: ['Backups'],
      operationId: 'importDump',
      summary: 'Import a file into a database',
      description:
        'Statements or a dump, compressed or not. It is streamed to the server, done to a copy of the database, and the copy takes its place where all of it went well; otherwise nothing has changed, and the fault names the line and the statement. What is there is backed up first. Takes an `Idempotency-Key`, which does not look into the file.',
      consumes: ['multipart/form-data'],
      params: IdParams,
      querystring: schemas.ImportQuery,
      body: schemas.ImportBody,
      response: { 202: OperationAnswer },
    },
    // The body is described above and read below.
    validatorCompiler: (route) => {
      if (route.httpPart === 'body') return () => true;
      if (!compile) throw new Error('there is no validator');
      return compile(route);
    },
    handler: async (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId: requestedBy } = principalOf(request);
      const id = request.params.id as EnvironmentId;
      const asked = (request.query.serviceId ?? null) as ServiceId | null;
      const announcedBytes = Number(request.headers['content-length'] ?? 0);
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort(new Error('the client has gone')));
      const over = takesItsTime(request.raw.socket, stallMs);
      try {
        const target = await importTarget(ctx, workspaceId, id);
        // The frame around a file is small.
        if (announcedBytes > ctx.importBytes + 64 * 1024) throw uploadTooLarge(ctx.importBytes);
        return await idempotency.once(request, reply, async (remember) => {
          const file = await readUpload(request.raw);
          const upload = { content: file.content, serviceId: file.serviceId ?? asked, announcedBytes };
          const { signal } = gone;
          return importUpload(ctx, target, upload, { requestedBy, signal }, remember);
        });
      } catch (error) {
        // The rest of the body is not read: the connection cannot be used again.
        if (!request.raw.complete) reply.header('connection', 'close');
        throw error;
      } finally {
        over();
      }
    },
  });
}
