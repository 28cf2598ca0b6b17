/** The paths of backups. No rules here: schema, permission, and the use case that does it. */
import type { Readable } from 'node:stream';
import Type from 'typebox';
import { ofEnvironment, ofList, type Routes } from '../../http/routes.ts';
import { idParams, PageQuery } from '../../http/schemas.ts';
import { apiPrefix } from '../../http/server.ts';
import type { EnvironmentId } from '../../ids.ts';
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

const base = `${apiPrefix}/environments/:id/backups`;
const stored = ['storage_refused', 'storage_unreachable', 'storage_failed', 'storage_full'] as const;

export function backupRoutes(routes: Routes, ctx: BackupsContext): void {
  const route = routes.tagged('Backups');
  route.get(`${apiPrefix}/backups`, {
    access: ofList.read,
    schema: {
      operationId: 'listAllBackups',
      summary: 'List all backups of your workspace',
      description: 'Also those of environments that were deleted without their data.',
      querystring: PageQuery,
      response: { 200: schemas.AllBackupsAnswer },
    },
    handler: ({ scope, query }) => listAllBackups(ctx.db, scope, new Page(query)),
  });

  route.get(base, {
    access: ofEnvironment.read,
    schema: {
      operationId: 'listBackups',
      summary: 'List the backups of an environment',
      description: 'With the storage they take, and when the next one is made.',
      params: idParams<EnvironmentId>(),
      querystring: schemas.BackupsQuery,
      response: { 200: schemas.BackupsAnswer },
    },
    handler: ({ scope, params, query }) => listBackups(ctx.db, scope.workspaceId, params.id, new Page(query)),
  });

  route.post(`${base}/trigger`, {
    access: ofEnvironment.change,
    idempotent: true,
    limit: 'trigger',
    faults: ['server_not_linked', 'nothing_to_back_up'],
    schema: {
      operationId: 'triggerBackup',
      summary: 'Make a backup now',
      description:
        'Of one service, or of every service and every volume. It is stored, then restored into a throw-away container and compared; only then it has succeeded. Takes an `Idempotency-Key`.',
      params: idParams<EnvironmentId>(),
      body: schemas.TriggerBody,
      response: { 202: schemas.BackupAnswer },
    },
    handler: ({ scope, principal, params, body, saveResponse }) => {
      const { accountId: requestedBy } = principal;
      const serviceId = body.serviceId ?? null;
      return triggerBackup(ctx, scope.workspaceId, params.id, { serviceId, requestedBy }, saveResponse);
    },
  });

  route.get(`${base}/config`, {
    access: ofEnvironment.read,
    schema: {
      operationId: 'getBackupConfig',
      summary: 'When backups are made by themselves, and where they go',
      params: idParams<EnvironmentId>(),
      response: { 200: schemas.ConfigAnswer },
    },
    handler: ({ scope, params }) => readBackupConfig(ctx.db, scope.workspaceId, params.id),
  });

  route.patch(`${base}/config`, {
    access: ofEnvironment.manage,
    faults: [...stored, 'egress_refused'],
    schema: {
      operationId: 'updateBackupConfig',
      summary: 'Say when backups are made, where they go, and how long they stay',
      description:
        'What is not named stays as it was. A destination is tried before it is taken: something is written, read and removed there. Backups that are there stay where they lie. A backup goes only where both `keepLast` and `keepDays` allow it; the last good one and the last verified one never go.',
      params: idParams<EnvironmentId>(),
      body: schemas.ConfigBody,
      response: { 200: schemas.ConfigAnswer },
    },
    handler: ({ scope, params, body }) => changeConfig(ctx, scope.workspaceId, params.id, body),
  });

  route.get(`${base}/:bid`, {
    access: ofEnvironment.read,
    schema: {
      operationId: 'getBackup',
      summary: 'One backup, with its parts',
      params: schemas.BackupParams,
      response: { 200: schemas.BackupAnswer },
    },
    handler: ({ scope, params }) => readBackup(ctx.db, scope.workspaceId, params.id, params.bid),
  });

  route.post(`${base}/:bid/restore`, {
    access: ofEnvironment.change,
    idempotent: true,
    limit: 'trigger',
    faults: ['server_not_linked', 'backup_unfinished', 'backup_incompatible'],
    schema: {
      operationId: 'restoreBackup',
      summary: 'Restore a backup',
      description:
        'The backup is fetched and proven, what is there now is backed up, the copy is loaded beside it, and only then the application is stopped for a moment (visitors get 503 with `Retry-After`), the two change places, and it is started again. Where anything fails, the old data serves on. What was replaced is kept beside for some days. Takes an `Idempotency-Key`.',
      params: schemas.BackupParams,
      body: schemas.RestoreBody,
      response: { 202: OperationAnswer },
    },
    handler: ({ scope, principal, params, body, saveResponse }) => {
      const { accountId: requestedBy } = principal;
      const { serviceId = null, safetyBackup = true } = body;
      const input = { backupId: params.bid, serviceId, safetyBackup, requestedBy };
      return restoreBackup(ctx, scope.workspaceId, params.id, input, saveResponse);
    },
  });

  route.get(`${base}/:bid/download`, {
    access: { ...ofEnvironment.readSecrets, fresh: true },
    faults: [...stored, 'backup_unfinished', 'backup_missing', 'backup_damaged'],
    schema: {
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
    handler: async ({ scope, params, query, signal, reply }) => {
      const input = { id: params.bid, partId: query.partId ?? null };
      const found = await downloadBackup(ctx, scope.workspaceId, params.id, input, signal);
      reply
        .type('application/zstd')
        .header('content-length', found.bytes)
        .header('content-disposition', `attachment; filename="${found.fileName}"`)
        .header('x-content-sha256', found.sha256);
      return found.content;
    },
  });

  route.delete(`${base}/:bid`, {
    access: ofEnvironment.manage,
    faults: [...stored, 'backup_unfinished', 'backup_last_good', 'in_use'],
    schema: {
      operationId: 'deleteBackup',
      summary: 'Delete a backup',
      description: 'With everything of it at its destination. The last good one needs `force`.',
      params: schemas.BackupParams,
      querystring: schemas.DeleteQuery,
      response: { 204: Type.Null({ description: 'Gone.' }) },
    },
    handler: ({ scope, params, query }) =>
      deleteBackup(ctx, scope.workspaceId, params.id, params.bid, query.force ?? false),
  });

  importRoute(route, ctx);
}
