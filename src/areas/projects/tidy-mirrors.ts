/** Mirrors that no project reads go a week after they were last used: `analyze-repo` and deleted projects leave some. */
import { after, day } from '../../clock.ts';
import type { Schedule } from '../../operations/queue.ts';
import { mirrorKeyOf, type ProjectsContext } from './projects.ts';
import * as queries from './queries.ts';

export function tidyMirrorsSchedule(ctx: ProjectsContext): Schedule {
  return { name: 'tidy-mirrors', cron: '23 4 * * *', timezone: 'UTC', run: () => tidyMirrors(ctx) };
}

async function tidyMirrors(ctx: ProjectsContext): Promise<void> {
  const used = await queries.listCloneUrls(ctx.db);
  const keep = new Set(used.map(({ workspaceId, cloneUrl }) => mirrorKeyOf(workspaceId, cloneUrl)));
  await (await ctx.mirrors()).removeUnused(after(ctx.clock.now(), -7 * day), keep);
}
