/** A log of many lines: it never holds up the page, all of it can be found, and its end is followed by those who are there. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser, openTab, signIn } from '../support/browser.ts';
import { countingTasks, mostOf } from '../support/count-tasks.ts';
import { tellDeployment } from '../support/deployment-story.ts';
import { startEnvironmentScene } from '../support/environments.ts';
import { until } from '../support/until.ts';

const lines = 6_000;
/** Of reading and of drawing: what a slow machine does within a frame or two. */
const mostAtOnce = 2_000;

const commit = { sha: 'c0ffee', message: 'Write a lot', author: 'Ada Lovelace', branch: 'main' };

const counting = `
  ${countingTasks}
  const { parse } = JSON;
  JSON.parse = (...given) => {
    count('read', 1);
    return parse(...given);
  };
  let before = 0;
  new MutationObserver(() => {
    const now = (document.querySelector('.log')?.textContent.split('\\n').length ?? 1) - 1;
    if (now > before) count('drawn', now - before);
    before = now;
  }).observe(document, { childList: true, characterData: true, subtree: true });
`;

async function openLog(t: TestContext) {
  const scene = await startEnvironmentScene(t);
  const { service, person, environmentId } = scene;
  const story = await tellDeployment(scene, await scene.server('ams-1'), commit);
  await story.step('build');
  const { page } = await openTab(t, await openBrowser(t, service), service);
  await signIn(page, person);
  return { page, story, path: `/environments/${environmentId}/deployments/${story.id}` };
}

/** By its place: to look for a text everywhere reads all lines, each time. */
async function said(page: Page, selector: string, text: string): Promise<void> {
  await page.locator(selector, { hasText: text }).waitFor();
}

function isAtEnd(page: Page): Promise<unknown> {
  return page.evaluate(
    `(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight < 2)(document.querySelector('.log'))`,
  );
}

const isLaidOut = (which: 'first' | 'last') =>
  `document.querySelector('.log-block:${which}-child > *').checkVisibility({ contentVisibilityAuto: true })`;

/** The text that the log's own search has gone to, if it can be seen. */
const seen = `(() => {
  const [range] = CSS.highlights.get('log-current') ?? [];
  const [line, box] = [range?.getBoundingClientRect(), document.querySelector('.log').getBoundingClientRect()];
  return line && line.top > box.top && line.bottom < box.bottom ? range.toString() : '';
})()`;

/** The line that stands in the middle of the log, if one does. */
const middle = `(() => {
  const { left, top, width, height } = document.querySelector('.log').getBoundingClientRect();
  const { offsetNode, offset } = document.caretPositionFromPoint(left + width / 2, top + height / 2 + 10) ?? {};
  if (!(offsetNode instanceof Text)) return '';
  return offsetNode.data.slice(0, offset).split('\\n').at(-1) + offsetNode.data.slice(offset).split('\\n')[0];
})()`;

test('a long log that is there at once is read and drawn in pieces, and all of it can be found', async (t) => {
  const { page, story, path } = await openLog(t);
  await story.lines(
    'build',
    ...Array.from({ length: lines }, (_, at) => `\x1b[32m${at + 1}\x1b[0m is its number`),
  );
  await story.end({ state: 'succeeded' });
  // What the service sends, as the fastest network would bring it: whole.
  await page.route('**/deployments/*/status', async (route) =>
    route.fulfill({ response: await route.fetch() }),
  );
  await page.addInitScript(counting);
  await page.goto(path);
  await said(page, '.log-count', '6,000 lines');
  await said(page, '.log-block:last-child', '6000 is');
  for (const what of ['read', 'drawn']) {
    const most = await mostOf(page, what);
    assert.ok(most > 1 && most <= mostAtOnce, `${most} lines were ${what} at once`);
  }
  await until(() => isAtEnd(page).then(Boolean), 'the end of the log to be seen');
  assert.equal(await page.evaluate(isLaidOut('first')), false, 'what nobody sees is not laid out');
  assert.equal(await page.evaluate(isLaidOut('last')), true);
  // The browser's own search: of what is on the screen, and of what it has never laid out.
  for (const wanted of ['6000 is', '7 is its number', '3333 is'])
    assert.equal(await page.evaluate(`window.find('${wanted}', false, false, true)`), true, wanted);
  // Over two colours, from a line that was never seen.
  await page.locator('.log-find').fill('2345 IS');
  await said(page, '.log-found', '1 of 1');
  await until(async () => (await page.evaluate(seen)) === '2345 is', 'the line that was searched for');
  await page.locator('.log-find').fill('is its number');
  await said(page, '.log-found', '1 of 2000');
});

test('whoever is at the end of a log follows it, whoever went back stays, and a failure is where one jumps to', async (t) => {
  const { page, story, path } = await openLog(t);
  const told = (step: string, from: number) =>
    story.lines(
      step,
      ...Array.from({ length: 300 }, (_, at) => `${step} ${from + at}: ${'long '.repeat(60)}`),
    );
  await page.goto(path);
  await told('build', 0);
  await said(page, '.log-count', '300 lines');
  await told('build', 300);
  await said(page, '.log-count', '600 lines');
  await until(() => isAtEnd(page).then(Boolean), 'the end of the log to be followed');
  await page.getByRole('log').hover();
  await page.mouse.wheel(0, -3_000);
  const top = () => page.evaluate("document.querySelector('.log').scrollTop");
  await until(async () => !(await isAtEnd(page)), 'the log to be scrolled');
  await told('health', 600);
  await said(page, '.log-count', '900 lines');
  await said(page, '.log-block:last-child', 'health 899');
  assert.equal(await isAtEnd(page), false);
  await story.end({
    state: 'failed',
    fault: { code: 'app_unhealthy', step: 'build', message: 'It did not build.', hint: null, evidence: null },
  });
  const before = await top();
  await page.getByRole('button', { name: 'Jump to the failure' }).click();
  await until(async () => (await top()) !== before, 'the log to move');
  // What it moves over is laid out on the way, and for a moment there may be no line in its middle.
  await until(
    async () => String(await page.evaluate(middle)).startsWith('build 599:'),
    async () => `the failure in the middle of the log, where now is: ${await page.evaluate(middle)}`,
  );
});
