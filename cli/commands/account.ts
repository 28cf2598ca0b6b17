/** Signing in and out, and the installations one is signed in to. */
import {
  ClientSession,
  createClient,
  type Operations,
  ProblemError,
  type SecondFactorChallenge,
  type SignIn,
} from '../../sdk/index.ts';
import { CliError, type Run, usageError } from '../command.ts';
import { type Context, readContexts, saveContext, tokenStoreOf, useContext } from '../contexts.ts';
import { headers, type Session } from '../session.ts';
import { readStdin } from '../terminal.ts';

export const login: Run = async (call) => {
  const { terminal } = call;
  const url = addressOf(call.args[0] ?? process.env.SLIPWAY_URL ?? (await askAddress(call)));
  const name = call.text('name') ?? new URL(url).host;
  const client = createClient({ url, headers });
  // Before a secret is typed: that the address is Slipway's.
  await client.getHealth();
  const email = call.text('email');
  if (call.has('with-token')) await keepToken(call, name, url, (await readStdin()).trim());
  else if (email !== undefined) await keepSession(call, name, url, email);
  else {
    const answer = await terminal.ask('E-mail address, or an API token');
    if (answer.startsWith('slw_')) await keepToken(call, name, url, answer);
    else await keepSession(call, name, url, answer);
  }
  return undefined;
};

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

async function keepSession(call: Session, name: string, url: string, email: string): Promise<void> {
  const { terminal } = call;
  const password = terminal.canAsk ? await terminal.askSecret('Password') : (await readStdin()).trim();
  const client = createClient({ url, headers });
  const answer = await client
    .login({ body: { email, password, refreshTokenIn: 'body' } })
    .catch(async (error: unknown): Promise<SignIn> => {
      if (!(error instanceof ProblemError) || error.code !== 'email_not_verified') throw error;
      terminal.note('The address has not been confirmed yet: a code was sent to it.');
      const code = await terminal.ask('Code');
      return client.verifyOtp({ body: { email, code, refreshTokenIn: 'body' } });
    });
  const signIn = 'secondFactor' in answer ? await proveSecond(call, client, answer.secondFactor) : answer;
  await saveContext(name, { url, email: signIn.user.email });
  await new ClientSession(tokenStoreOf(name)).accept(signIn);
  welcome(call, name, signIn.user);
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
      'Make an API token in the dashboard, and sign in with it: `slipway login --with-token`.',
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
