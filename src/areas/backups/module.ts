/** Backups as a part of the service. */
import type { Module } from '../../http/module.ts';
import type { BackupsContext } from './backups.ts';
import { importOperation } from './import-upload.ts';
import { backupOperation } from './make/make-backup.ts';
import { discardOperation } from './restore/discard-replaced.ts';
import { restoreOperation } from './restore-backup.ts';
import { backupRoutes } from './routes.ts';
import { backupSchedule } from './schedule/start-due-backups.ts';

export function backupsModule(ctx: BackupsContext): Module {
  return {
    routes: (routes) => backupRoutes(routes, ctx),
    operations: [backupOperation(ctx), restoreOperation(ctx), importOperation(ctx), discardOperation(ctx)],
    schedules: [backupSchedule(ctx)],
  };
}
