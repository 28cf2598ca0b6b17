/** Signing in and out, and the installations one is signed in to. */
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ClientSession,
  createClient,
  type DeviceCode,
  type Operations,
  ProblemError,
  type SecondFactorChallenge,
  type SignIn,
} from '../../sdk/index.ts';
import { waitBeforeRetryMs } from '../../sdk/transport.ts';
import { openBrowser } from '../browser.ts';
import { CliError, type Run, usageError } from '../command.ts';
import { type Context, readContexts, saveContext, tokenStoreOf, useContext } from '../contexts.ts';
import { headers, type Session } from '../session.ts';
import { plain, readStdin } from '../terminal.ts';

export const login: Run = async (call) => {
  const url = addressOf(call.args[0] ?? process.env.SLIPWAY_URL ?? (await askAddress(call)));
  const name = call.text('name') ?? new URL(url).host;
  const client = createClient({ url, headers });
  // Before a secret is typed: that the address is Slipway's.
  await client.getHealth();
  const email = call.text('email');
  if (call.has('with-token')) await keepToken(call, name, url, await readSecret(call, 'API token'));
  else {
    const signIn = await (email === undefined ? byBrowser(call, client) : byPassword(call, client, email));
    await saveContext(name, { url, email: signIn.user.email });
    await new ClientSession(tokenStoreOf(name)).accept(signIn);
    welcome(call, name, signIn.user);
  }
  return undefined;
};

/** Typed unseen, or from a pipe. */
async function readSecret({ terminal }: Session, what: string): Promise<string> {
  return terminal.canAsk ? terminal.askSecret(what) : (await readStdin()).trim();
}

async function askAddress({ terminal }: Session): Promise<string> {
  const { contexts, current = '' } = readContexts();
  return terminal.ask('Address of Slipway', contexts[current]?.url);
}

function addressOf(text: string): string {
  const whole = /^https?:\/\//.test(text) ? text : `https://${text}`;
  if (text !== '' && URL.canParse(whole)) return new URL(whole).origin;
  throw usageError(`«${text}» is no address.`, 'It looks like https://slipway.example.com');
}

async function keepToken(call: Session, name: string, url: string, token: string): Promise<void> {
  if (!/^slw_\w{38}$/.test(token))
    throw usageError('That is no API token.', 'One begins with `slw_` and has 42 characters.');
  const me = await createClient({ url, auth: token, headers }).getMe();
  await saveContext(name, { url, token });
  welcome(call, name, me);
}

/** A person allows it in a browser, here or elsewhere: no password is typed, and passkeys work. */
async function byBrowser({ terminal }: Session, client: Operations): Promise<SignIn> {
  if (!terminal.canAsk)
    throw usageError(
      'Signing in by a browser takes a terminal, which shows the code.',
      'Pipe an API token to `slipway login --with-token`, or set SLIPWAY_URL and SLIPWAY_TOKEN.',
    );
  const deviceName = plain(hostname()).slice(0, 100) || 'unnamed';
  const asked = await client.createDeviceCode({ body: { deviceName } });
  const page = plain(asked.verificationUri);
  terminal.note(`To sign in, open ${terminal.bold(page)}`);
  terminal.note(`and type this code:  ${terminal.bold(plain(asked.userCode))}`);
  if (await openBrowser(page)) terminal.note('The browser opens there.');
  terminal.note('Waiting for you to allow it. Ctrl-C ends this; `slipway login --help` has other ways.');
  const interrupted = new AbortController();
  const stop = () => interrupted.abort();
  process.once('SIGINT', stop);
  try {
    return await allowed(client, asked, interrupted.signal);
  } catch (error) {
    if (interrupted.signal.aborted) throw new CliError('Nothing was done.', undefined, 'cancelled');
    throw error;
  } finally {
    process.removeListener('SIGINT', stop);
  }
}

/** Looks as often as it is told to; a service that is away for a moment is asked again. */
async function allowed(
  client: Operations,
  { deviceCode, interval, expiresIn }: DeviceCode,
  signal: AbortSignal,
): Promise<SignIn> {
  const end = Date.now() + expiresIn * 1_000;
  let waitMs = interval * 1_000;
  for (let tried = 0; ; ) {
    await sleep(waitMs, undefined, { signal });
    try {
      const answer = await client.loginWithDeviceCode({ body: { deviceCode } }, { signal });
      if ('accessToken' in answer) return answer;
      waitMs = answer.interval * 1_000;
      tried = 0;
    } catch (error) {
      const againMs = Date.now() < end ? waitBeforeRetryMs(error, tried) : undefined;
      if (againMs === undefined) throw error;
      waitMs = againMs;
      tried += 1;
    }
  }
}

async function byPassword(call: Session, client: Operations, email: string): Promise<SignIn> {
  const { terminal } = call;
  const password = await readSecret(call, 'Password');
  const answer = await client
    .login({ body: { email, password, refreshTokenIn: 'body' } })
    .catch(async (error: unknown): Promise<SignIn> => {
      if (!(error instanceof ProblemError) || error.code !== 'email_not_verified') throw error;
      terminal.note('The address has not been confirmed yet: a code was sent to it.');
      const code = await terminal.ask('Code');
      return client.verifyOtp({ body: { email, code, refreshTokenIn: 'body' } });
    });
  return 'secondFactor' in answer ? proveSecond(call, client, answer.secondFactor) : answer;
}

/** A code of an authenticator app, or a recovery code: they look different. A passkey needs a browser. */
async function proveSecond(
  { terminal }: Session,
  client: Operations,
  { challenge, methods }: SecondFactorChallenge,
): Promise<SignIn> {
  if (!methods.includes('totp') && !methods.includes('recovery_code'))
    throw new CliError(
      'The account has passkeys alone, which need a browser.',
      'Sign in by one: `slipway login` without --email.',
    );
  const code = (await terminal.ask('Code of the authenticator app, or a recovery code')).trim();
  const method = /^[0-9]{6}$/.test(code) ? 'totp' : 'recovery_code';
  return client.loginWithSecondFactor({ body: { challenge, method, code, refreshTokenIn: 'body' } });
}

function welcome({ terminal }: Session, context: string, user: SignIn['user']): void {
  const { email, workspaces } = user;
  terminal.show({ context, email, workspaces }, () => [
    `Signed in to ${terminal.bold(context)} as ${email}.`,
    ...(workspaces.length > 1
      ? [`You are in ${workspaces.length} workspaces; choose one with --workspace.`]
      : []),
  ]);
}

export const logout: Run = async (call) => {
  const { name, context } = call.target();
  if (name === undefined)
    throw new CliError(
      'You are signed in by SLIPWAY_TOKEN; there is nothing to forget.',
      'Unset it.',
      'usage',
    );
  // A token may be in use elsewhere: it is forgotten here, and revoked with `tokens revoke`.
  if (context.tokens)
    await call.client.logout().catch((error: unknown) => {
      if (!(error instanceof ProblemError) || error.status !== 401) throw error;
    });
  await saveContext(name, undefined);
  call.terminal.show({ context: name }, () => [`Signed out of ${name}.`]);
  return undefined;
};

export const contexts: Run = async (call) => {
  const { terminal } = call;
  const [chosen] = call.args;
  const kept = readContexts();
  if (chosen !== undefined) {
    if (!kept.contexts[chosen])
      throw new CliError(`There is no context «${chosen}».`, 'See `slipway contexts`.', 'notFound');
    await useContext(chosen);
  }
  const current = chosen ?? kept.current;
  const all = Object.entries(kept.contexts).map(([name, context]) => ({ name, ...shown(context) }));
  terminal.show({ current: current ?? null, contexts: all }, () =>
    terminal.table(
      all.map(({ name, url, as }) => [name === current ? '*' : '', name, url, as]),
      ['', 'NAME', 'ADDRESS', 'AS'],
      'You are not signed in anywhere. Run `slipway login`.',
    ),
  );
  return undefined;
};

/** Without what would let somebody in. */
function shown({ url, email, token }: Context) {
  return { url, as: email ?? (token ? `token ${token.slice(0, 8)}…` : 'nobody') };
}
