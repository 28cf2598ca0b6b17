/** What domains do with the environments that their names lead to. */
import type { OperationQueue } from '../../operations/queue.ts';
import type { Database } from '../../store/database.ts';
import type { EnvironmentHook } from '../environments/hooks.ts';
import { removeCertificates } from './installed-certificates.ts';
import { namesOfEnvironments } from './read-names.ts';
import { deleteNamesOf } from './remove-domain.ts';

export function domainsHook(ctx: { readonly db: Database; readonly queue: OperationQueue }): EnvironmentHook {
  return {
    show: async (db, workspaceId, ids) => {
      const found = await namesOfEnvironments(db, workspaceId, ids);
      return new Map([...found].map(([id, [domain = null]]) => [id, { domain }]));
    },
    takeDown: (site) => removeCertificates(ctx.db, site),
    removed: (tx, workspaceId, environment) => deleteNamesOf(tx, ctx, workspaceId, environment),
  };
}
