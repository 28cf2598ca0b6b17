/** What people watch of an environment on a cluster: the views of its members as one. */
import type { LiveView, SeenContainer } from '../live-view.ts';
import { inOrder } from '../single-server/live.ts';

/** One that does not answer is left out: the others are seen nevertheless. */
export function joinedView(views: readonly LiveView[], isAway: (error: unknown) => boolean): LiveView {
  /** Which of them has shown a container. */
  const whose = new Map<string, LiveView>();
  const containersOf = async (view: LiveView): Promise<SeenContainer[] | undefined> => {
    try {
      return await view.containers();
    } catch (error) {
      if (isAway(error)) return undefined;
      throw error;
    }
  };
  return {
    containers: async () => {
      const all = await Promise.all(views.map(containersOf));
      for (const [index, view] of views.entries()) for (const { id } of all[index] ?? []) whose.set(id, view);
      return all.flatMap((each) => each ?? []).sort(inOrder);
    },
    lastOutput: (ids, most, secrets) =>
      Promise.all(ids.map(async (id) => (await whose.get(id)?.lastOutput([id], most, secrets))?.[0] ?? [])),
    follow: async (follower) => {
      const view = whose.get(follower.container);
      return view ? view.follow(follower) : () => undefined;
    },
  };
}
