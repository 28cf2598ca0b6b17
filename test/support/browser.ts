/**
 * A real browser in a test. Whatever a page must never do fails the test, whichever test it is: ask another origin for
 * anything, break its own policy, throw, or put a token into an address.
 */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, type TestContext } from 'node:test';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { chromiumPath } from '../../lab/needs.ts';
import type { TestApp } from './app.ts';
import { hangMs, until } from './until.ts';

let launched: Promise<Browser> | undefined;
after(async () => {
  await (await launched)?.close();
});

function launch(): Promise<Browser> {
  // Root may not use its sandbox; the pages are our own.
  launched ??= chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox', '--disable-gpu'] });
  return launched;
}

export interface Look {
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
}

/** A person's browser, with cookies of its own. */
export async function openBrowser(
  t: TestContext,
  service: Pick<TestApp, 'url'>,
  look: Look = {},
): Promise<BrowserContext> {
  const { theme = 'light', width = 1280, height = 900 } = look;
  const browser = await launch();
  const context = await browser.newContext({
    baseURL: service.url,
    colorScheme: theme,
    viewport: { width, height },
    reducedMotion: 'reduce',
    locale: 'en-GB',
  });
  context.setDefaultTimeout(hangMs);
  t.after(() => context.close());
  return context;
}

/** What a page did that none may. */
export class Watched {
  readonly page: Page;
  readonly wrong: string[] = [];
  readonly requests: string[] = [];

  constructor(page: Page, origin: string) {
    this.page = page;
    page.on('request', (request) => {
      const url = request.url();
      this.requests.push(`${request.method()} ${url}`);
      if (!url.startsWith(`${origin}/`) && !/^(blob|data):/.test(url)) this.wrong.push(`asked ${url}`);
      if (/eyJ[\w-]+\.|[?&](ticket|token|access_token)=/.test(url)) this.wrong.push(`a token in ${url}`);
    });
    page.on('pageerror', (error) => this.wrong.push(`threw ${error.stack ?? error.message}`));
    page.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return;
      // The browser tells every refusal of the service this way; the pages show them to people.
      if (/^Failed to load resource: .*(status of [45]|net::ERR)/.test(message.text())) return;
      // Over plain http from another machine than one's own, the browser tells which header it passes over.
      if (/^The Cross-Origin-Opener-Policy header has been ignored/.test(message.text())) return;
      this.wrong.push(`said ${message.text()}`);
    });
  }

  assertGood(): void {
    assert.deepEqual(this.wrong, []);
  }
}

export async function openTab(
  t: TestContext,
  context: BrowserContext,
  service: Pick<TestApp, 'url'>,
): Promise<Watched> {
  const watched = new Watched(await context.newPage(), service.url);
  t.after(() => watched.assertGood());
  return watched;
}

interface SignIn {
  readonly email: string;
  readonly password: string;
}

/** By typing, as a person does. */
export async function signIn(page: Page, { email, password }: SignIn): Promise<void> {
  await page.goto('/');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('main#main').waitFor();
}

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Each page in both themes, by every rule of axe, and no wider than the screen. */
export async function assertPagesGood(
  t: TestContext,
  { service, person }: { readonly service: Pick<TestApp, 'url'>; readonly person: SignIn },
  paths: readonly string[],
): Promise<void> {
  for (const look of [
    { theme: 'light', width: 1280 },
    { theme: 'dark', width: 390 },
  ] as const) {
    const { page } = await openTab(t, await openBrowser(t, service, look), service);
    await signIn(page, person);
    for (const path of paths) {
      await page.goto(path);
      await page.locator('main#main :is(h1, h2, h3)').first().waitFor();
      await until(async () => (await page.locator('.skeleton').count()) === 0, `${path} to be loaded`);
      await assertAccessible(page);
      const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
      assert.ok(width <= look.width, `${path} is ${width} wide`);
    }
  }
}

/** Every rule of axe on what is shown now. */
export async function assertAccessible(page: Page): Promise<void> {
  const { readFileSync } = await import('node:fs');
  // By the debugger, which no policy of the page concerns.
  await page.evaluate(readFileSync(axePath, 'utf8'));
  const found: unknown =
    await page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map((node) => node.target.join(' ') + ' ' + node.failureSummary).join(' | ')))`);
  assert.deepEqual(found, []);
}
