/**
 * The backups of an environment that is deleted with its data. They are hidden at once; their objects are taken away by
 * the schedule, also where the destination is away for now, and their rows last of all.
 */
import type { Clock } from '../../clock.ts';
import type { EnvironmentHook } from '../environments/hooks.ts';
import { markAllDeleting } from './retention/deletion-queries.ts';

export function backupsHook({ clock }: { readonly clock: Clock }): EnvironmentHook {
  return {
    removed: async (tx, workspaceId, { id }, { deleteData }) => {
      if (deleteData) await markAllDeleting(tx, workspaceId, id, clock.now());
    },
  };
}
