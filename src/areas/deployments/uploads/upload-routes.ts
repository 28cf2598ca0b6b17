/** The path that takes a working tree. */
import { Fault } from '../../../fault.ts';
import { ofEnvironment, type Routes } from '../../../http/routes.ts';
import { idParams } from '../../../http/schemas.ts';
import { apiPrefix } from '../../../http/server.ts';
import { bodyOf, uploadRoutes, whileUploading } from '../../../http/uploads.ts';
import type { EnvironmentId } from '../../../ids.ts';
import type { DeploymentsContext } from '../deployments.ts';
import * as schemas from '../schemas.ts';
import { deployUpload } from './deploy-upload.ts';

const documented = ['application/gzip', 'application/x-tar'];
/** Other names that tools give to the same. */
const alsoTaken = ['application/x-gzip', 'application/x-gtar', 'application/x-compressed-tar'];

export function uploadRoute(routes: Routes, ctx: DeploymentsContext): void {
  const refusal = new Fault('unsupported_media_type', 'The working tree must be sent as a tar file.', {
    hint: 'Set the header `Content-Type: application/gzip`, or `application/x-tar` where it is not compressed.',
  });
  uploadRoutes(routes, [...documented, ...alsoTaken], refusal, (route, options) => {
    route.post(`${apiPrefix}/environments/:id/deployments/upload`, {
      access: ofEnvironment.deploy,
      idempotent: true,
      limit: 'trigger',
      rawBody: true,
      faults: ['server_not_linked', 'server_full', 'archive_invalid', 'uploads_full', 'no_space'],
      schema: {
        operationId: 'deployUpload',
        summary: 'Deploy a working tree',
        description:
          'A tar file of the folder as it is, pushed or not; it is streamed, and stands for a commit from then on: it is built, kept, rolled back to and removed with its deployments. `.git` is left out. What would lie or lead out of the folder is refused by name: absolute paths, `..`, links that lead out, devices, names that are there twice. Takes an `Idempotency-Key`, which does not look into the file.',
        consumes: documented,
        params: idParams<EnvironmentId>(),
        querystring: schemas.UploadQuery,
        body: schemas.UploadBody,
        response: { 202: schemas.DeploymentAnswer },
      },
      options,
      handler: ({ scope, principal, params, query, signal, saveResponse, request }) =>
        whileUploading(request, (announcedBytes) => {
          const { workspaceId } = scope;
          const asked = { workspaceId, environmentId: params.id, requestedBy: principal.accountId };
          const upload = { content: bodyOf(request.raw), announcedBytes, message: query.message, signal };
          return deployUpload(ctx, asked, upload, saveResponse);
        }),
    });
  });
}
