/**
 * Where the link in a reset mail leads: one small page that asks for the new password. The token stands behind
 * the `#`, so it is in no server's log and no referrer.
 */
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import { webPages } from '../../http/web-pages.ts';
import { passwordLength } from './passwords.ts';

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Set a new password · Slipway</title>
<link rel="stylesheet" href="/reset-password/page.css">
</head>
<body>
<main>
<h1>Set a new password</h1>
<form id="form">
<label for="password">New password</label>
<input id="password" type="password" autocomplete="new-password" required
  minlength="${passwordLength.least}" maxlength="${passwordLength.most}" autofocus>
<button>Set password</button>
</form>
<p id="status" role="status"></p>
</main>
<script src="/reset-password/page.js"></script>
</body>
</html>
`;

const style = `:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 22rem; margin: 15vh auto 0; padding: 0 1rem; }
h1 { font-size: 1.4rem; }
label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit; }
input, button { padding: .6rem; margin: .4rem 0 1rem; }
`;

const script = `const form = document.getElementById('form');
const status = document.getElementById('status');
const token = new URLSearchParams(location.hash.slice(1)).get('token');
if (!token) status.textContent = 'This link is incomplete. Open it again from the mail.';
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  status.textContent = '…';
  try {
    const answer = await fetch('${apiPrefix}/auth/reset-password', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, password: document.getElementById('password').value }),
    });
    if (answer.ok) {
      form.remove();
      history.replaceState(null, '', location.pathname);
      status.textContent = 'Your password is set. You can sign in now.';
    } else {
      status.textContent = (await answer.json()).detail;
    }
  } catch {
    status.textContent = 'The service could not be reached. Try again.';
  }
});
`;

export function resetPage(app: HttpServer): void {
  webPages(app, '/reset-password', { pages: { '/reset-password': page }, style, script });
}
