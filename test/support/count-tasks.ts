/** How much a page does in one task: a count that no machine is too slow for. */
import type { Page } from 'playwright-core';

/**
 * For `addInitScript`. `count(what, by)` adds to what the present task has done; a task that is asked for at its first
 * count, and goes before all others, ends it.
 */
export const countingTasks = `
  window.most = {};
  const counts = {};
  window.count = (what, by) => {
    if (!counts[what]) scheduler.postTask(() => { counts[what] = 0; }, { priority: 'user-blocking' });
    counts[what] = (counts[what] ?? 0) + by;
    most[what] = Math.max(most[what] ?? 0, counts[what]);
  };
`;

/** How much the largest task did of it. */
export async function mostOf(page: Page, what: string): Promise<number> {
  return Number(await page.evaluate(`most[${JSON.stringify(what)}] ?? 0`));
}
