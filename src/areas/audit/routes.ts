/** The paths of the audit log. */
import type { Readable } from 'node:stream';
import Type from 'typebox';
import { manage, type Routes } from '../../http/routes.ts';
import { apiPrefix } from '../../http/server.ts';
import { Page } from '../../page.ts';
import type { Database } from '../../store/database.ts';
import { exportAudit, listAudit } from './audit.ts';
import * as schemas from './schemas.ts';

const base = `${apiPrefix}/audit`;

export function auditRoutes(routes: Routes, db: Database): void {
  const route = routes.tagged('Audit');
  route.get(base, {
    access: manage,
    schema: {
      operationId: 'listAudit',
      summary: 'Who changed what',
      description:
        'One entry for each request that changed something, for each sign-in of a member, for whoever was handed secrets, and for work that a push, a schedule or the service itself began. Written with the change, and never altered.',
      querystring: schemas.AuditQuery,
      response: { 200: schemas.AuditAnswer },
    },
    handler: ({ scope, query: { limit, cursor, ...query } }) =>
      listAudit(
        db,
        scope.workspaceId,
        query,
        new Page({ ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) }),
      ),
  });

  route.get(`${base}/export`, {
    access: manage,
    schema: {
      operationId: 'downloadAudit',
      summary: 'The audit log as a file',
      description: 'One entry a line (NDJSON), the newest first.',
      querystring: schemas.ExportQuery,
      response: {
        200: {
          description: 'The entries.',
          content: {
            'application/x-ndjson': { schema: Type.Unsafe<Readable>({ type: 'string', format: 'binary' }) },
          },
        },
      },
    },
    handler: ({ scope, query, reply }) => {
      reply.type('application/x-ndjson').header('content-disposition', 'attachment; filename="audit.ndjson"');
      return exportAudit(db, scope.workspaceId, query);
    },
  });
}
