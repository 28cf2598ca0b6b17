/**
 * Where the links in mails to people without an account lead: one small page that asks, and answers only when a button is
 * pressed, so that a scanner which follows every link agrees to nothing. What mail programs post by themselves (RFC 8058)
 * only ever ends mail.
 */
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import { pageOptions, webPages } from '../../http/web-pages.ts';
import { answerConsent, type ConsentContext } from './consent.ts';

const pageOf = (title: string, buttons: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Slipway</title>
<link rel="stylesheet" href="/notifications/page.css">
</head>
<body>
<main>
<h1>${title}</h1>
<div id="buttons">${buttons}</div>
<p id="status" role="status"></p>
</main>
<script src="/notifications/page.js"></script>
</body>
</html>
`;

const consentPage = pageOf(
  'Notifications by mail',
  '<button data-answer="confirm">Yes, send them to me</button><button data-answer="decline">No, never</button>',
);
const unsubscribePage = pageOf(
  'Get no more notifications',
  '<button data-answer="decline">Unsubscribe</button>',
);

const style = `:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 22rem; margin: 15vh auto 0; padding: 0 1rem; }
h1 { font-size: 1.4rem; }
button { display: block; width: 100%; box-sizing: border-box; font: inherit; padding: .6rem; margin: .4rem 0 1rem; }
`;

const script = `const status = document.getElementById('status');
const buttons = document.getElementById('buttons');
const find = (text) => new URLSearchParams(text.slice(1)).get('token');
const token = find(location.hash) ?? find(location.search);
const said = { confirm: 'You will get notifications.', decline: 'You will get no more mail of this sender.' };
if (!token) status.textContent = 'This link is incomplete. Open it again from the mail.';
for (const button of buttons.querySelectorAll('button')) {
  button.addEventListener('click', async () => {
    const { answer } = button.dataset;
    status.textContent = '…';
    try {
      const response = await fetch('${apiPrefix}/notification-recipients/answer', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token, answer }),
      });
      if (response.ok) {
        buttons.remove();
        history.replaceState(null, '', location.pathname);
        status.textContent = said[answer];
      } else {
        status.textContent = (await response.json()).detail;
      }
    } catch {
      status.textContent = 'The service could not be reached. Try again.';
    }
  });
}
`;

export function consentPages(app: HttpServer, ctx: ConsentContext): void {
  const pages = { '/notifications/consent': consentPage, '/notifications/unsubscribe': unsubscribePage };
  webPages(app, '/notifications', { pages, style, script });
  // The form says nothing that the address does not: it is read, and thrown away.
  app.addContentTypeParser(
    ['application/x-www-form-urlencoded', 'multipart/form-data'],
    { parseAs: 'string', bodyLimit: 10_000 },
    (_request, _body, done) => done(null, undefined),
  );
  // Under the limit of every request alone: one mail provider posts for many people, and nobody guesses an HMAC.
  app.post('/notifications/unsubscribe', pageOptions, async ({ query }, reply) => {
    const { token } = Object(query);
    await answerConsent(ctx, typeof token === 'string' ? token : '', false);
    return reply.type('text/plain; charset=utf-8').send('You will get no more mail of this sender.\n');
  });
}
