/** Backups as a part of the service. */
import type { Module } from '../../http/module.ts';
import { backupSchedule } from './backup-schedules.ts';
import type { BackupsContext } from './backups.ts';
import { discardOperation } from './discard-replaced.ts';
import { importOperation } from './import-upload.ts';
import { backupOperation } from './make-backup.ts';
import { restoreOperation } from './restore-backup.ts';
import { backupRoutes } from './routes.ts';

export function backupsModule(ctx: BackupsContext): Module {
  return {
    routes: (routes) => backupRoutes(routes, ctx),
    operations: [backupOperation(ctx), restoreOperation(ctx), importOperation(ctx), discardOperation(ctx)],
    schedules: [backupSchedule(ctx)],
  };
}
