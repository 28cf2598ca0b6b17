/**
 * Uploads go with the deployments that name them, and with their environments. What no deployment names is removed once it
 * is older than an upload can take: it was left by a kill, or its deployments are gone.
 */
import { after, minute } from '../../../clock.ts';
import { isId, type UploadId } from '../../../ids.ts';
import type { Schedule } from '../../../operations/queue.ts';
import type { DeploymentsContext } from '../deployments.ts';
import { longestUploadMs } from './deploy-upload.ts';
import { listUsed } from './upload-queries.ts';

const batch = 500;

type TidyContext = Pick<DeploymentsContext, 'db' | 'clock' | 'uploads'>;

export function tidyUploadsSchedule(ctx: TidyContext): Schedule {
  const run = async () => {
    await tidyUploads(ctx);
  };
  return { name: 'tidy-uploads', cron: '47 * * * *', timezone: 'UTC', run };
}

export async function tidyUploads({ db, clock, uploads }: TidyContext): Promise<number> {
  const stored = await uploads();
  const before = after(clock.now(), -(longestUploadMs + 10 * minute));
  const old = stored.list().filter(({ id, changedAt }) => isId<UploadId>(id) && changedAt < before);
  let removed = 0;
  for (let from = 0; from < old.length; from += batch) {
    const some = old.slice(from, from + batch);
    const used = await listUsed(
      db,
      some.map(({ id }) => id),
    );
    for (const each of some) {
      if (used.has(each.id)) continue;
      await stored.remove(each);
      removed += 1;
    }
  }
  return removed;
}
