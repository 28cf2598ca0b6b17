/** An overview of a thousand environments: it never holds up the page, and only what is seen is laid out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkspaceId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import { openBrowser, openTab, signIn } from '../support/browser.ts';
import { countingTasks, mostOf } from '../support/count-tasks.ts';
import { fillWorkspace } from '../support/many-environments.ts';
import { newPerson } from '../support/people.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { until } from '../support/until.ts';

const environments = 1_000;
const mostAtOnce = 200;

const counting = `
  ${countingTasks}
  let before = 0;
  new MutationObserver(() => {
    const now = document.querySelectorAll('.environment-row').length;
    if (now > before) count('rows', now - before);
    before = now;
  }).observe(document, { childList: true, subtree: true });
`;

test('a thousand environments are put into the page in pieces, and laid out where they are seen', async (t) => {
  const service = await sharedTestApp();
  const person = await newPerson(service);
  const { db } = service.app.store;
  const workspace = await db.one<{ id: WorkspaceId }>(
    sql`select workspace_id as id from memberships where account_id = ${person.accountId}`,
  );
  assert.ok(workspace);
  await fillWorkspace(db, workspace.id, environments);
  const { page } = await openTab(t, await openBrowser(t, service), service);
  await page.addInitScript(counting);
  await signIn(page, person);
  const rows = page.locator('.environment-row');
  await until(async () => (await rows.count()) === environments, 'all environments');
  const most = await mostOf(page, 'rows');
  assert.ok(most > 1 && most <= mostAtOnce, `${most} rows were made at once`);
  const isLaidOut = () =>
    page.evaluate(
      "[...document.querySelectorAll('.environment-row')].at(-1).checkVisibility({ contentVisibilityAuto: true })",
    );
  assert.equal(await isLaidOut(), false, 'what nobody sees is not laid out');
  await rows.last().scrollIntoViewIfNeeded();
  await until(async () => (await isLaidOut()) === true, 'the last row to be seen');
});
