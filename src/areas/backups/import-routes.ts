/** The path that takes an upload. Its body is no JSON and has no end in sight: it is read as it arrives. */
import { Fault } from '../../fault.ts';
import { takesItsTime } from '../../http/requests.ts';
import { ofEnvironment, type Routes } from '../../http/routes.ts';
import { idParams } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import type { EnvironmentId } from '../../ids.ts';
import { OperationAnswer } from '../operations/schemas.ts';
import type { BackupsContext } from './backups.ts';
import { importTarget, importUpload, uploadTooLarge } from './import-upload.ts';
import { readUpload } from './restore/read-upload.ts';
import * as schemas from './schemas.ts';

/** Without a byte for so long, an upload is given up. */
const stallMs = 120_000;

export function importRoute(routes: Routes, ctx: BackupsContext): void {
  routes.encapsulate((server, route) => {
    server.removeAllContentTypeParsers();
    server.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null, undefined));
    server.addContentTypeParser('*', (_request, _payload, done) =>
      done(new Fault('unsupported_media_type', 'The file must be sent as multipart/form-data.')),
    );
    uploadRoute(server, route, ctx);
  });
}

function uploadRoute({ validatorCompiler }: HttpServer, route: Routes, ctx: BackupsContext): void {
  route.post(`${apiPrefix}/environments/:id/backups/import`, {
    access: ofEnvironment.change,
    idempotent: true,
    limit: 'trigger',
    rawBody: true,
    faults: ['server_not_linked', 'disk_full', 'remote_unreachable'],
    schema: {
      operationId: 'importDump',
      summary: 'Import a file into a database',
      description:
        'Statements or a dump, compressed or not. It is streamed to the server, done to a copy of the database, and the copy takes its place where all of it went well; otherwise nothing has changed, and the fault names the line and the statement. What is there is backed up first. Takes an `Idempotency-Key`, which does not look into the file.',
      consumes: ['multipart/form-data'],
      params: idParams<EnvironmentId>(),
      querystring: schemas.ImportQuery,
      body: schemas.ImportBody,
      response: { 202: OperationAnswer },
    },
    options: {
      // The body is described above and read below.
      validatorCompiler: (part) => {
        if (part.httpPart === 'body') return () => true;
        if (!validatorCompiler) throw new Error('there is no validator');
        return validatorCompiler(part);
      },
      // The rest of the body is not read: the connection cannot be used again.
      onError: async (request, reply) => {
        if (!request.raw.complete) reply.header('connection', 'close');
      },
    },
    handler: async ({ scope, principal, params, query, signal, saveResponse, request }) => {
      const announcedBytes = Number(request.headers['content-length'] ?? 0);
      const over = takesItsTime(request.raw.socket, stallMs);
      try {
        const target = await importTarget(ctx, scope.workspaceId, params.id);
        // The frame around a file is small.
        if (announcedBytes > ctx.importBytes + 64 * 1024) throw uploadTooLarge(ctx.importBytes);
        const file = await readUpload(request.raw);
        const serviceId = file.serviceId ?? query.serviceId ?? null;
        const upload = { content: file.content, serviceId, announcedBytes };
        const asked = { requestedBy: principal.accountId, signal };
        return await importUpload(ctx, target, upload, asked, saveResponse);
      } finally {
        over();
      }
    },
  });
}
