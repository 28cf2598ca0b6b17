/** How soon a person sees the API reference in a browser: its first words, and all of it. */
import { chromium, type Page } from 'playwright-core';
import { chromiumPath, installBrowser, whyNoBrowser } from '../lab/needs.ts';
import { until } from '../test/support/until.ts';
import { type Figure, LeftOut, median, milliseconds } from './figure.ts';
import { startService } from './service.ts';

const views = 7;

interface View {
  /** Title, and the operations by their tags. */
  readonly firstMs: number;
  /** The reference itself, with which calls are tried. */
  readonly wholeMs: number;
}

export async function benchDocs(): Promise<Figure[]> {
  const why = whyNoBrowser();
  if (why) throw new LeftOut(why);
  await installBrowser();
  const service = await startService();
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
  try {
    const seen: View[] = [];
    for (let count = 0; count <= views; count += 1) {
      // Each with an empty cache, as of somebody who has never been there.
      const context = await browser.newContext();
      seen.push(await view(await context.newPage(), `${service.url}/api/docs`));
      await context.close();
    }
    const [cold, ...later] = seen;
    return [
      {
        what: `first view, empty cache, median of ${views}`,
        slipway: milliseconds(median(later.map(({ firstMs }) => firstMs))),
        aim: { atMost: 1_000 },
      },
      {
        what: 'first view, the first after a start of the service',
        slipway: milliseconds(cold?.firstMs ?? Number.NaN),
        aim: { atMost: 1_000 },
      },
      {
        what: `all of it, empty cache, median of ${views}`,
        slipway: milliseconds(median(later.map(({ wholeMs }) => wholeMs))),
      },
    ];
  } finally {
    await browser.close();
    await service.stop();
  }
}

/** By the page's own clock, frame by frame, from the moment that its address was entered. */
async function view(page: Page, url: string): Promise<View> {
  await page.addInitScript(`
    const seen = (globalThis.seen = {});
    const look = () => {
      const text = document.body?.textContent ?? '';
      if (text.includes('Slipway API') && text.includes('Deployments')) seen.firstMs ??= performance.now();
      if (document.querySelector('.scalar-app') && !document.querySelector('#outline')) seen.wholeMs ??= performance.now();
      if (!seen.wholeMs) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  `);
  await page.goto(url);
  // Not `waitForFunction`, which the policy of the page forbids.
  const found = await until(() => page.evaluate('seen.wholeMs !== undefined && seen'), 'the reference');
  const { firstMs, wholeMs } = Object(found);
  return { firstMs: Number(firstMs), wholeMs: Number(wholeMs) };
}
