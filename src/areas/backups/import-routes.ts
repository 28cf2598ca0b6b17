/** The path that takes an upload. Its body is no JSON and has no end in sight: it is read as it arrives. */
import { Fault } from '../../fault.ts';
import { ofEnvironment, type Routes } from '../../http/routes.ts';
import { idParams } from '../../http/schemas.ts';
import { apiPrefix } from '../../http/server.ts';
import { type UploadOptions, uploadRoutes, whileUploading } from '../../http/uploads.ts';
import type { EnvironmentId } from '../../ids.ts';
import { OperationAnswer } from '../operations/schemas.ts';
import type { BackupsContext } from './backups.ts';
import { importTarget, importUpload, uploadTooLarge } from './import-upload.ts';
import { readUpload } from './restore/read-upload.ts';
import * as schemas from './schemas.ts';

export function importRoute(routes: Routes, ctx: BackupsContext): void {
  const refusal = new Fault('unsupported_media_type', 'The file must be sent as multipart/form-data.');
  uploadRoutes(routes, ['multipart/form-data'], refusal, (route, options) =>
    uploadRoute(route, options, ctx),
  );
}

function uploadRoute(route: Routes, options: UploadOptions, ctx: BackupsContext): void {
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
    options,
    handler: ({ scope, principal, params, query, signal, saveResponse, request }) =>
      whileUploading(request, async (announcedBytes) => {
        const target = await importTarget(ctx, scope.workspaceId, params.id);
        // The frame around a file is small.
        if (announcedBytes > ctx.importBytes + 64 * 1024) throw uploadTooLarge(ctx.importBytes);
        const file = await readUpload(request.raw);
        const serviceId = file.serviceId ?? query.serviceId ?? null;
        const upload = { content: file.content, serviceId, announcedBytes };
        const asked = { requestedBy: principal.accountId, signal };
        return importUpload(ctx, target, upload, asked, saveResponse);
      }),
  });
}
