/** What makes every other browser test fail is itself seen here: without it, they would prove nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser, Watched } from '../support/browser.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { until } from '../support/until.ts';

const deeds: Readonly<Record<string, readonly [deed: string, noticed: RegExp]>> = {
  'asks another origin for data': ["fetch('http://198.51.100.1/').catch(() => 0)", /Content Security Policy/],
  'loads a picture from elsewhere': [
    "new Promise((done) => { const i = new Image(); i.onerror = done; i.src = 'http://198.51.100.1/a.png' })",
    /Content Security Policy/,
  ],
  'writes a script into the page': [
    "{ const s = document.createElement('script'); try { s.textContent = '1' } catch {} document.head.append(s) }",
    /Content Security Policy|TrustedScript/,
  ],
  'writes a style into the page': [
    "{ const s = document.createElement('style'); s.textContent = 'b{}'; document.head.append(s) }",
    /Content Security Policy/,
  ],
  throws: ["setTimeout(() => { throw new Error('a mistake') })", /threw .*a mistake/],
  'puts a token into an address': ["fetch('/api/v1/events?token=x').catch(() => 0)", /a token in/],
};

for (const [what, [deed, noticed]] of Object.entries(deeds))
  test(`a page that ${what} fails its test`, async (t) => {
    const service = await sharedTestApp();
    const watched = new Watched(await (await openBrowser(t, service)).newPage(), service.url);
    await watched.page.goto('/');
    await watched.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    watched.assertGood();
    await watched.page.evaluate(deed);
    await until(() => watched.wrong.some((each) => noticed.test(each)), 'it to be noticed');
    assert.throws(() => watched.assertGood());
  });

test('a page that goes to another origin fails its test', async (t) => {
  const service = await sharedTestApp();
  const watched = new Watched(await (await openBrowser(t, service)).newPage(), service.url);
  // Answered here: nothing leaves this machine.
  await watched.page.route('http://elsewhere.example/**', (route) => route.fulfill({ body: 'elsewhere' }));
  await watched.page.goto('http://elsewhere.example/');
  assert.match(watched.wrong.join(), /asked http:\/\/elsewhere\.example\//);
});
