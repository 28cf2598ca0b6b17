/**
 * Where the link in an invitation leads: one small page that signs in, or makes an account, and joins. The token stands
 * behind the `#`, so it is in no server's log and no referrer.
 */
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import { webPages } from '../../http/web-pages.ts';

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Join a workspace · Slipway</title>
<link rel="stylesheet" href="/invitation/page.css">
</head>
<body>
<main>
<h1>Join a workspace</h1>
<form id="form">
<label for="email">The address that the invitation was sent to</label>
<input id="email" type="email" autocomplete="username" required maxlength="254" autofocus>
<label for="password">Password</label>
<input id="password" type="password" autocomplete="current-password" required maxlength="128">
<button value="login">I have an account: sign in and join</button>
<button value="register">I am new: create an account and join</button>
</form>
<button id="sso" type="button" hidden></button>
<form id="confirm" hidden>
<label for="code">The code from the mail that was sent to you now</label>
<input id="code" inputmode="numeric" autocomplete="one-time-code" required pattern="[0-9]{6}" maxlength="6">
<button>Confirm and join</button>
</form>
<form id="second" hidden>
<label for="factor">The code of your authenticator app, or a recovery code</label>
<input id="factor" autocomplete="one-time-code" maxlength="64">
<button value="code">Sign in and join</button>
<button id="passkey" value="passkey" hidden>Use a passkey and join</button>
</form>
<p id="status" role="status"></p>
</main>
<script src="/invitation/page.js"></script>
</body>
</html>
`;

const style = `:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 22rem; margin: 12vh auto 0; padding: 0 1rem; }
h1 { font-size: 1.4rem; }
label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit; }
input, button { padding: .6rem; margin: .4rem 0 1rem; }
[hidden] { display: none; }
`;

const script = `const find = (id) => document.getElementById(id);
const [form, confirm, second, status, sso] = ['form', 'confirm', 'second', 'status', 'sso'].map(find);
let challenge;
const token = new URLSearchParams(location.hash.slice(1)).get('token');
const joined = 'You are a member now.';
if (!token) status.textContent = 'This link is incomplete. Open it again from the mail.';
async function call(path, body, bearer) {
  const answer = await fetch('${apiPrefix}' + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(bearer && { authorization: 'Bearer ' + bearer }) },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  const said = text === '' ? {} : JSON.parse(text);
  if (!answer.ok) throw new Error(said.detail);
  return said;
}
function on(form, work, kind = 'submit') {
  form.addEventListener(kind, async (event) => {
    event.preventDefault();
    status.textContent = '…';
    try {
      status.textContent = await work(event.submitter?.value);
    } catch (error) {
      status.textContent = error instanceof TypeError ? 'The service could not be reached. Try again.' : error.message;
    }
  });
}
function done() {
  for (const each of [form, confirm, second, sso]) each.remove();
  history.replaceState(null, '', location.pathname);
  return joined;
}
on(form, async (what) => {
  const [email, password] = [find('email').value, find('password').value];
  if (what === 'register') {
    await call('/auth/register', { email, password, invitation: token });
    form.hidden = true;
    sso.hidden = true;
    confirm.hidden = false;
    return 'A code is on its way to you.';
  }
  const { accessToken, secondFactor } = await call('/auth/login', { email, password });
  if (!secondFactor) return join(accessToken);
  challenge = secondFactor;
  form.hidden = true;
  second.hidden = false;
  find('passkey').hidden = !challenge.passkey;
  return 'Your account has a second factor.';
});
async function join(accessToken) {
  await call('/invitations/accept', { token }, accessToken);
  return done();
}
async function proof(what) {
  if (what === 'passkey') {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(challenge.passkey);
    const credential = await navigator.credentials.get({ publicKey });
    return { method: 'passkey', credential: credential.toJSON() };
  }
  const code = find('factor').value.trim();
  return { method: /^[0-9]{6}$/.test(code) ? 'totp' : 'recovery_code', code };
}
on(second, async (what) => {
  const body = { challenge: challenge.challenge, ...(await proof(what)) };
  const { accessToken } = await call('/auth/login/second-factor', body);
  return join(accessToken);
});
on(confirm, async () => {
  await call('/auth/verify-otp', { email: find('email').value, code: find('code').value });
  return done();
});
on(
  sso,
  async () => {
    const { url } = await call('/auth/oidc/begin', { invitation: token });
    location.assign(url);
    return '…';
  },
  'click',
);
fetch('${apiPrefix}/auth/oidc')
  .then((answer) => answer.json())
  .then(({ enabled, name }) => {
    sso.textContent = 'Join with ' + name;
    sso.hidden = !enabled || !token;
  });
`;

export function invitationPage(app: HttpServer): void {
  webPages(app, '/invitation', { pages: { '/invitation': page }, style, script });
}
