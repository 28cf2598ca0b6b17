/** The dashboard in a real browser: what it weighs, when it is there, and that nothing in it keeps anyone waiting. */
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { chromiumPath, installBrowser, whyNoBrowser } from '../lab/needs.ts';
import { hangMs, until } from '../test/support/until.ts';
import { type DashboardScene, startDashboardScene } from './dashboard-scene.ts';
import { count, type Figure, kilobytes, LeftOut, median, megabytes, milliseconds } from './figure.ts';

const loads = 7;
const lines = 100_000;
const environments = 1_000;
const events = 10_000;
/** As many as one notice of the database carries. */
const eventsAtOnce = 50;

export async function benchDashboard(): Promise<Figure[]> {
  const why = whyNoBrowser();
  if (why) throw new LeftOut(why);
  await installBrowser();
  const scene = await startDashboardScene();
  const browser = await chromium.launch({
    executablePath: chromiumPath,
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const cookies = await signedIn(browser, scene);
    const open = () => openTab(browser, scene, cookies);
    return [
      ...(await measureFirstView(open)),
      await measureMemory(open, scene),
      ...(await measureLog(open, scene)),
      ...(await measureList(open, scene)),
    ];
  } finally {
    await browser.close();
    await scene.stop();
  }
}

type Cookies = Awaited<ReturnType<BrowserContext['storageState']>>;
type Open = () => Promise<Page>;

/** Once, by typing; each tab then begins with the cookie alone, and with nothing in the browser's cache. */
async function signedIn(browser: Browser, { url, person }: DashboardScene): Promise<Cookies> {
  const context = await browser.newContext({ baseURL: url });
  context.setDefaultTimeout(hangMs);
  const page = await context.newPage();
  await page.goto('/');
  await page.getByLabel('E-mail').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.locator('.environment-row').first().waitFor();
  const cookies = await context.storageState();
  await context.close();
  return cookies;
}

/** By the debugger, which no policy of the page concerns. `tasks` are those that took 50 ms or more. */
const watching = `
  window.bench = { tasks: [], shownMs: 0 };
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) bench.tasks.push({ startTime, duration });
  }).observe({ type: 'longtask', buffered: true });
  const look = new MutationObserver(() => {
    if (!document.querySelector('.environment-row')) return;
    bench.shownMs = performance.now();
    look.disconnect();
  });
  look.observe(document, { childList: true, subtree: true });
`;

/** A refresh cookie works once: each tab of this bench hands its own to the next. */
async function openTab(browser: Browser, { url }: DashboardScene, cookies: Cookies): Promise<Page> {
  const context = await browser.newContext({ baseURL: url, storageState: cookies });
  context.setDefaultTimeout(hangMs);
  const page = await context.newPage();
  await page.addInitScript(watching);
  page.on('response', async (response) => {
    if (response.url().endsWith('/auth/refresh')) Object.assign(cookies, await context.storageState());
  });
  return page;
}

/** By the debugger: the policy of the page lets nothing be evaluated inside of it. */
async function countOf(page: Page, selector: string): Promise<number> {
  return Number(await page.evaluate(`document.querySelectorAll('${selector}').length`));
}

async function now(page: Page): Promise<number> {
  return Number(await page.evaluate('performance.now()'));
}

/** In milliseconds. The observer is told of a task after it: when there is nothing else to do, it has been. */
async function longestTaskSince(page: Page, from: number): Promise<number> {
  return Math.max(0, ...(await tasksSince(page, from)));
}

async function tasksSince(page: Page, from: number): Promise<readonly number[]> {
  const tasks: { readonly startTime: number; readonly duration: number }[] = Object(
    await page.evaluate('new Promise((done) => requestIdleCallback(() => done(bench.tasks)))'),
  );
  return Array.from(tasks)
    .filter(({ startTime }) => startTime >= from)
    .map(({ duration }) => duration);
}

/** A first visit of someone who is signed in: nothing is in the cache. */
async function measureFirstView(open: Open): Promise<Figure[]> {
  const [weights, paints, interactives]: [number[], number[], number[]] = [[], [], []];
  for (let load = 0; load <= loads; load += 1) {
    const page = await open();
    await page.goto('/');
    await page.locator('.environment-row').first().waitFor();
    await page.waitForLoadState('load');
    const [weight, paintMs, shownMs, blockedMs]: readonly number[] = Object(
      await page.evaluate(`[
        performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'))
          .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
        performance.getEntriesByName('first-contentful-paint')[0].startTime,
        bench.shownMs,
        Math.max(0, ...bench.tasks.map(({ startTime, duration }) => startTime + duration)),
      ]`),
    );
    await page.context().close();
    // The first warms the service and the files of the browser.
    if (load === 0) continue;
    weights.push((weight ?? Number.NaN) / 1_000);
    paints.push(paintMs ?? Number.NaN);
    interactives.push(Math.max(shownMs ?? Number.NaN, blockedMs ?? Number.NaN));
  }
  return [
    {
      what: 'script of the first view, compressed',
      slipway: kilobytes(median(weights)),
      aim: { atMost: 60 },
    },
    {
      what: `first contentful paint, median of ${loads}`,
      slipway: milliseconds(median(paints)),
      aim: { atMost: 300 },
    },
    {
      what: `interactive, with its data, median of ${loads}`,
      slipway: milliseconds(median(interactives)),
      aim: { atMost: 600 },
    },
  ];
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  // What waits for a second round, as finalisers do, goes with it.
  for (let round = 0; round < 3; round += 1) await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 1e6;
}

async function measureMemory(open: Open, scene: DashboardScene): Promise<Figure> {
  const page = await open();
  await page.goto('/');
  await page.getByText('Live', { exact: true }).last().waitFor({ state: 'attached' });
  // What is loaded late and what is compiled on the way belongs to the start.
  await scene.tell(eventsAtOnce);
  await seen(page, scene, 'warmed up');
  const before = await heapOf(page);
  for (let told = 0; told < events; told += eventsAtOnce) await scene.tell(eventsAtOnce);
  await seen(page, scene, 'all told');
  const after = await heapOf(page);
  await page.context().close();
  return {
    what: `heap of a tab after ${events.toLocaleString('en')} events`,
    slipway: megabytes(after),
    beside: { name: 'at its start', amount: megabytes(before) },
    aim: { ratioAtMost: 1.2 },
  };
}

/** Whatever was told before it has been heard by then. */
async function seen(page: Page, scene: DashboardScene, name: string): Promise<void> {
  await scene.rename(name);
  await page.getByRole('link', { name, exact: true }).waitFor();
}

async function measureLog(open: Open, scene: DashboardScene): Promise<Figure[]> {
  const path = await scene.logOf(lines);
  const page = await open();
  const begun = performance.now();
  await page.goto(path);
  const last = `the line number ${lines} of the log`;
  // Those before it are there by then. Whatever looks for a text everywhere reads all lines, and is a long task itself.
  await page.locator('.log-block:last-child', { hasText: last }).waitFor();
  const shownMs = performance.now() - begun;
  const slowest = await longestTaskSince(page, 0);
  const searched = await now(page);
  await page.locator('.log-find').fill(last);
  await page.locator('.log-found', { hasText: '1 of 1' }).waitFor();
  const searchMs = await longestTaskSince(page, searched);
  // The browser's own search, from the top; a page cannot open its field, but can ask it.
  await page.evaluate("document.querySelector('.log').scrollTop = 0");
  const isFound = await page.evaluate(`window.find(${JSON.stringify(last)})`);
  await page.context().close();
  return [
    {
      what: `${lines.toLocaleString('en')} lines of log, until all are there`,
      slipway: milliseconds(shownMs),
    },
    {
      what: `${lines.toLocaleString('en')} lines of log, the longest task`,
      slipway: milliseconds(slowest),
      aim: { atMost: 150 },
    },
    {
      what: 'a search through them, the longest task',
      slipway: milliseconds(searchMs),
      aim: { atMost: 150 },
    },
    {
      what: 'the last of them, found by the browser’s own search',
      slipway: count(isFound === true ? 1 : 0),
      aim: { atLeast: 1 },
    },
  ];
}

async function measureList(open: Open, scene: DashboardScene): Promise<Figure[]> {
  await scene.fill(environments);
  const page = await open();
  await page.goto('/');
  await until(async () => (await countOf(page, '.environment-row')) >= environments, 'all environments');
  const loading = await longestTaskSince(page, 0);
  const scrolled = await now(page);
  await page.mouse.move(640, 360);
  let y = -1;
  for (;;) {
    await page.mouse.wheel(0, 600);
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    const before = y;
    y = Number(await page.evaluate('scrollY'));
    if (y === before) break;
  }
  const tasks = await tasksSince(page, scrolled);
  await page.context().close();
  return [
    {
      what: `${environments.toLocaleString('en')} environments, the longest task until they are there`,
      slipway: milliseconds(loading),
    },
    {
      what: `${environments.toLocaleString('en')} environments, long tasks (over 50 ms) while all are scrolled through`,
      slipway: count(tasks.length),
      aim: { atMost: 0 },
    },
  ];
}
