/**
 * `npm run pictures`: makes the three pictures of the README from a workspace that is written into a service of its own.
 * They are made anew when the dashboard looks different, and looked at before they are committed.
 */
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { chromium, type Page } from 'playwright-core';
import { benchPerson, signIn } from '../bench/http.ts';
import { startService } from '../bench/service.ts';
import { chromiumPath, installBrowser, whyNoBrowser } from '../lab/needs.ts';
import { until } from '../test/support/until.ts';
import { root } from './commands.ts';

const folder = join(root, 'docs/pictures');
const mostBytes = 150_000;
const size = { width: 1200, height: 680 };

const why = whyNoBrowser();
if (why) {
  process.stderr.write(`Pictures: ${why}.\n`);
  process.exit(1);
}
await installBrowser();
mkdirSync(folder, { recursive: true });
const service = await startService();
const browser = await chromium.launch({
  executablePath: chromiumPath,
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  await signIn(service.url, service.dataDir, 1);
  await fill(service.dataDir);
  const context = await browser.newContext({
    baseURL: service.url,
    viewport: size,
    colorScheme: 'light',
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'Europe/Amsterdam',
  });
  const page = await context.newPage();
  await page.goto('/');
  await page.getByLabel('E-mail').fill(benchPerson.email);
  await page.getByLabel('Password').fill(benchPerson.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('link', { name: 'Bookshop', exact: true }).waitFor();
  await take(page, 'overview');
  await page.getByRole('region', { name: 'Bookshop' }).getByRole('link', { name: 'production' }).click();
  await page.getByText('The new release takes the requests.').waitFor();
  await take(page, 'deployment');
  await page.getByRole('navigation', { name: 'Environment' }).getByRole('link', { name: 'Backups' }).click();
  await page.getByText('restored and checked').first().waitFor();
  await take(page, 'backups');
} finally {
  await browser.close();
  await service.stop();
}

async function fill(dataDir: string): Promise<void> {
  const password = readFileSync(join(dataDir, 'postgres.password'), 'utf8');
  const host = join(dataDir, 'postgres');
  const client = new pg.Client({ host, user: 'slipway', password, database: 'postgres' });
  await client.connect();
  try {
    await client.query('begin');
    await client.query(readFileSync(join(root, 'scripts/pictures.sql'), 'utf8'));
    await client.query('commit');
  } finally {
    await client.end();
  }
}

async function take(page: Page, name: string): Promise<void> {
  await page.getByText('Live', { exact: true }).last().waitFor({ state: 'attached' });
  await until(async () => (await page.locator('.skeleton').count()) === 0, 'the page to be loaded');
  // A log shows its end, and a picture its beginning.
  await page.evaluate("document.querySelector('.log')?.scrollTo(0, 0)");
  // Neither the pointer nor the focus is part of what is shown.
  await page.mouse.move(size.width - 1, size.height - 1);
  await page.evaluate('document.activeElement?.blur()');
  const path = join(folder, `${name}.png`);
  await page.screenshot({ path });
  const bytes = statSync(path).size;
  process.stdout.write(`docs/pictures/${name}.png, ${Math.round(bytes / 1_000)} KB\n`);
  if (bytes > mostBytes) throw new Error(`${path} is larger than ${mostBytes} bytes`);
}
