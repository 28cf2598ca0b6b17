/** The paths of backups. No rules here: schema, permission, and the use case that does it. */
import type { Readable } from 'node:stream';
import Type from 'typebox';
import { principalOf, scopeOf } from '../../http/access.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { change, manage, read, repeatable } from '../../http/route-config.ts';
import { IdParams, PageQuery } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import type { BackupId, BackupPartId, EnvironmentId, ServiceId } from '../../ids.ts';
import { Page } from '../../page.ts';
import { OperationAnswer } from '../operations/schemas.ts';
import type { BackupsContext } from './backups.ts';
import { changeConfig } from './change-config.ts';
import { readBackupConfig } from './config.ts';
import { deleteBackup } from './delete-backup.ts';
import { downloadBackup } from './download-backup.ts';
import { importRoute } from './import-routes.ts';
import { listAllBackups, listBackups, readBackup } from './read-backups.ts';
import { triggerBackup } from './request-backup.ts';
import { restoreBackup } from './restore-backup.ts';
import * as schemas from './schemas.ts';

const tags = ['Backups'];
const base = `${apiPrefix}/environments/:id/backups`;
const stored = ['storage_refused', 'storage_unreachable', 'storage_failed', 'storage_full'] as const;

export function backupRoutes(app: HttpServer, ctx: BackupsContext, idempotency: Idempotency): void {
  app.get(`${apiPrefix}/backups`, {
    config: read,
    schema: {
      tags,
      operationId: 'listAllBackups',
      summary: 'List all backups of your workspace',
      description: 'Also those of environments that were deleted without their data.',
      querystring: PageQuery,
      response: { 200: schemas.AllBackupsAnswer },
    },
    handler: (request) => listAllBackups(ctx.db, scopeOf(request).workspaceId, new Page(request.query)),
  });

  app.get(base, {
    config: read,
    schema: {
      tags,
      operationId: 'listBackups',
      summary: 'List the backups of an environment',
      description: 'With the storage they take, and when the next one is made.',
      params: IdParams,
      querystring: schemas.BackupsQuery,
      response: { 200: schemas.BackupsAnswer },
    },
    handler: (request) => {
      const { workspaceId } = scopeOf(request);
      return listBackups(ctx.db, workspaceId, request.params.id as EnvironmentId, new Page(request.query));
    },
  });

  app.post(`${base}/trigger`, {
    config: {
      ...change,
      limit: 'trigger',
      faults: [...repeatable, 'server_not_linked', 'nothing_to_back_up'],
    },
    schema: {
      tags,
      operationId: 'triggerBackup',
      summary: 'Make a backup now',
      description:
        'Of one service, or of every service and every volume. It is stored, then restored into a throw-away container and compared; only then it has succeeded. Takes an `Idempotency-Key`.',
      params: IdParams,
      body: schemas.TriggerBody,
      response: { 202: schemas.BackupAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId: requestedBy } = principalOf(request);
      const serviceId = (request.body.serviceId ?? null) as ServiceId | null;
      const id = request.params.id as EnvironmentId;
      return idempotency.once(request, reply, (remember) =>
        triggerBackup(ctx, workspaceId, id, { serviceId, requestedBy }, remember),
      );
    },
  });

  app.get(`${base}/config`, {
    config: read,
    schema: {
      tags,
      operationId: 'getBackupConfig',
      summary: 'When backups are made by themselves, and where they go',
      params: IdParams,
      response: { 200: schemas.ConfigAnswer },
    },
    handler: (request) =>
      readBackupConfig(ctx.db, scopeOf(request).workspaceId, request.params.id as EnvironmentId),
  });

  app.patch(`${base}/config`, {
    config: { ...manage, faults: [...stored, 'egress_refused'] },
    schema: {
      tags,
      operationId: 'changeBackupConfig',
      summary: 'Say when backups are made, where they go, and how long they stay',
      description:
        'What is not named stays as it was. A destination is tried before it is taken: something is written, read and removed there. Backups that are there stay where they lie. A backup goes only where both `keepLast` and `keepDays` allow it; the last good one and the last verified one never go.',
      params: IdParams,
      body: schemas.ConfigBody,
      response: { 200: schemas.ConfigAnswer },
    },
    handler: (request) => {
      const { workspaceId } = scopeOf(request);
      return changeConfig(ctx, workspaceId, request.params.id as EnvironmentId, request.body);
    },
  });

  app.get(`${base}/:bid`, {
    config: read,
    schema: {
      tags,
      operationId: 'getBackup',
      summary: 'One backup, with its parts',
      params: schemas.BackupParams,
      response: { 200: schemas.BackupAnswer },
    },
    handler: (request) => {
      const { id, bid } = request.params;
      return readBackup(ctx.db, scopeOf(request).workspaceId, id as EnvironmentId, bid as BackupId);
    },
  });

  app.post(`${base}/:bid/restore`, {
    config: {
      ...change,
      limit: 'trigger',
      faults: [...repeatable, 'server_not_linked', 'backup_unfinished', 'backup_incompatible'],
    },
    schema: {
      tags,
      operationId: 'restoreBackup',
      summary: 'Restore a backup',
      description:
        'The backup is fetched and proven, what is there now is backed up, the copy is loaded beside it, and only then the application is stopped for a moment (visitors get 503 with `Retry-After`), the two change places, and it is started again. Where anything fails, the old data serves on. What was replaced is kept beside for some days. Takes an `Idempotency-Key`.',
      params: schemas.BackupParams,
      body: schemas.RestoreBody,
      response: { 202: OperationAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId: requestedBy } = principalOf(request);
      const { id, bid } = request.params;
      const { serviceId = null, safetyBackup = true } = request.body;
      const wish = {
        backupId: bid as BackupId,
        serviceId: serviceId as ServiceId | null,
        safetyBackup,
        requestedBy,
      };
      return idempotency.once(request, reply, (remember) =>
        restoreBackup(ctx, workspaceId, id as EnvironmentId, wish, remember),
      );
    },
  });

  app.get(`${base}/:bid/download`, {
    config: { ...change, faults: [...stored, 'backup_unfinished', 'backup_missing', 'backup_damaged'] },
    schema: {
      tags,
      operationId: 'downloadBackup',
      summary: 'Download a dump',
      description:
        'Of one part, compressed by zstd, and not encrypted any more. `X-Content-SHA256` has its sum. Where it turns out to be damaged, the connection is broken before the last bytes.',
      params: schemas.BackupParams,
      querystring: schemas.DownloadQuery,
      response: {
        200: {
          description: 'The dump.',
          content: {
            'application/zstd': { schema: Type.Unsafe<Readable>({ type: 'string', format: 'binary' }) },
          },
        },
      },
    },
    handler: async (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { id, bid } = request.params;
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort(new Error('the client has gone')));
      const wish = {
        id: bid as BackupId,
        partId: (request.query.partId ?? null) as BackupPartId | null,
      };
      const found = await downloadBackup(ctx, workspaceId, id as EnvironmentId, wish, gone.signal);
      return reply
        .type('application/zstd')
        .header('content-length', found.bytes)
        .header('content-disposition', `attachment; filename="${found.fileName}"`)
        .header('x-content-sha256', found.sha256)
        .send(found.content);
    },
  });

  app.delete(`${base}/:bid`, {
    config: { ...manage, faults: [...stored, 'backup_unfinished', 'backup_last_good', 'in_use'] },
    schema: {
      tags,
      operationId: 'deleteBackup',
      summary: 'Delete a backup',
      description: 'With everything of it at its destination. The last good one needs `force`.',
      params: schemas.BackupParams,
      querystring: schemas.DeleteQuery,
      response: { 204: Type.Null({ description: 'Gone.' }) },
    },
    handler: async (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { id, bid } = request.params;
      const { force = false } = request.query;
      await deleteBackup(ctx, workspaceId, id as EnvironmentId, bid as BackupId, force);
      return reply.code(204).send(null);
    },
  });

  importRoute(app, ctx, idempotency);
}
