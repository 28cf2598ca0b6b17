/** Before anyone is signed in: sign in, make an account with a code from a mail, or ask for a new password. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { RegisterRequest, SecondFactorChallenge, SignIn as SignInAnswer } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { mailToken } from '../data/mail-token.ts';
import { useResource } from '../data/resource.ts';
import { begin, session } from '../data/session.ts';
import { SecondFactor } from '../parts/second-factor.tsx';
import { useTitle } from '../parts/title.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';

const gates = ['/sign-in', '/register', '/confirm', '/forgot-password'];

/** Any other address is where they want to be: it is shown as soon as they are signed in. */
export function SignIn() {
  const { path, query, route } = useLocation();
  const now = session.value;
  // The provider sends the browser back here where the account has a second factor.
  const isHalfway = path === '/sign-in' && query.secondFactor !== undefined;
  const enter = async (answer: SignInAnswer) => {
    // Loaded anew: it may be a page that is not the dashboard's.
    if (isHalfway) return location.replace(pathOf(query.returnTo));
    await begin(answer);
    if (gates.includes(path)) route('/', true);
  };
  const notice = now.state === 'signed-out' ? now.notice : null;
  return (
    <main class="gate">
      <img src="/favicon.svg" alt="" width="40" height="40" />
      {notice && path !== '/register' && (
        <p class="notice" role="status">
          {notice}
        </p>
      )}
      {path === '/register' && <Register />}
      {path === '/confirm' && <ConfirmAddress email={query.email ?? ''} enter={enter} />}
      {path === '/forgot-password' && <ForgotPassword />}
      {isHalfway && <SecondStep enter={enter} />}
      {!isHalfway && !gates.slice(1).includes(path) && <Login enter={enter} />}
    </main>
  );
}

interface Entering {
  readonly enter: (answer: SignInAnswer) => Promise<void>;
}

/** A path of this address: two slashes, or one and a backslash, would name another host. */
function pathOf(asked = '/'): string {
  return /^\/(?![/\\])/.test(asked) ? asked : '/';
}

/** After single sign-on, for accounts that have a second factor here. */
function SecondStep({ enter }: Entering) {
  useTitle('Second factor');
  const { route } = useLocation();
  const { value, failure } = useResource('second-factor', (options) =>
    api.getSecondFactorChallenge({}, options),
  );
  const onBack = () => route('/sign-in', true);
  if (value) return <SecondFactor needed={value.secondFactor} enter={enter} onBack={onBack} />;
  return (
    <section>
      <h1>Second factor</h1>
      {failure && <FailureNotice failure={failure} />}
      <p class="gate-links">
        <a href="/sign-in">Back to the sign-in</a>
      </p>
    </section>
  );
}

function Login({ enter }: Entering) {
  const { path, route } = useLocation();
  // Whoever is signed in there is asked to join.
  const isInvited = path === '/invitation';
  const title = isInvited ? 'Join a workspace' : 'Sign in';
  useTitle(title);
  const [email, setEmail] = useState('');
  const [needed, setNeeded] = useState<SecondFactorChallenge>();
  const action = useAction(async (body: { email: string; password: string }) => {
    const answer = await api.login({ body });
    if ('secondFactor' in answer) setNeeded(answer.secondFactor);
    else await enter(answer);
  });
  const { failure } = action;
  if (needed) return <SecondFactor needed={needed} enter={enter} onBack={() => setNeeded(undefined)} />;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const { password = '' } = fieldsOf(event.currentTarget);
        void action.run({ email, password });
      }}
    >
      <h1>{title}</h1>
      {isInvited && (
        <p>
          Sign in with the address that the invitation was sent to. If it has no account yet,{' '}
          <a href={`/register${location.hash}`}>create one</a>.
        </p>
      )}
      <TextField
        label="E-mail"
        name="email"
        type="email"
        autocomplete="username"
        value={email}
        onText={setEmail}
        error={failure?.fields.email}
        isRequired
        isFocused
      />
      <TextField
        label="Password"
        name="password"
        type="password"
        autocomplete="current-password"
        error={failure?.fields.password}
        isRequired
      />
      {failure && <FailureNotice failure={failure} />}
      {failure?.code === 'email_not_verified' && (
        <Button onPress={() => route(`/confirm?email=${encodeURIComponent(email)}`)}>Enter the code</Button>
      )}
      <Button type="submit" kind="primary" isBusy={action.isBusy}>
        Sign in
      </Button>
      <SingleSignOn />
      <p class="gate-links">
        <a href={isInvited ? `/register${location.hash}` : '/register'}>Create an account</a>
        <a href="/forgot-password">Forgot the password?</a>
      </p>
    </form>
  );
}

/** Where the installation has a provider. Whoever comes back has a session, as a cookie. */
function SingleSignOn() {
  const { path } = useLocation();
  const { value } = useResource('oidc', (options) => api.getOidc({}, options));
  const action = useAction(async () => {
    const invitation = mailToken();
    const returnTo = invitation || gates.includes(path) ? '/' : path;
    const body = { returnTo, ...(invitation && { invitation }) };
    location.assign((await api.startOidc({ body })).url);
  });
  if (!value?.enabled) return null;
  return (
    <>
      <Button isBusy={action.isBusy} onPress={() => action.run()}>
        Sign in with {value.name ?? 'single sign-on'}
      </Button>
      {action.failure && <FailureNotice failure={action.failure} />}
    </>
  );
}

function Register() {
  useTitle('Create an account');
  const { route } = useLocation();
  const invitation = mailToken();
  const action = useAction(async (body: RegisterRequest) => {
    await api.register({ body });
    route(`/confirm?email=${encodeURIComponent(body.email)}`);
  });
  const { failure } = action;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const { email = '', password = '', name = '' } = fieldsOf(event.currentTarget);
        void action.run({ email, password, ...(name && { name }), ...(invitation && { invitation }) });
      }}
    >
      <h1>Create an account</h1>
      <TextField
        label="Name"
        name="name"
        autocomplete="name"
        hint="As others in your workspace see you. May stay empty."
        error={failure?.fields.name}
        isFocused
      />
      <TextField
        label="E-mail"
        name="email"
        type="email"
        autocomplete="username"
        error={failure?.fields.email}
        hint={
          invitation
            ? 'The address that the invitation was sent to. A code is sent there.'
            : 'A code is sent there.'
        }
        isRequired
      />
      <TextField
        label="Password"
        name="password"
        type="password"
        autocomplete="new-password"
        minLength={10}
        maxLength={128}
        hint="Ten characters or more, and none of the common ones."
        error={failure?.fields.password}
        isRequired
      />
      {failure && <FailureNotice failure={failure} />}
      <Button type="submit" kind="primary" isBusy={action.isBusy}>
        Send the code
      </Button>
      <p class="gate-links">
        <a href={invitation ? `/invitation${location.hash}` : '/sign-in'}>I have an account</a>
      </p>
    </form>
  );
}

function ConfirmAddress({ email, enter }: Entering & { readonly email: string }) {
  useTitle('Confirm your address');
  const action = useAction(async (code: string) => enter(await api.verifyOtp({ body: { email, code } })));
  const again = useAction(() => api.resendOtp({ body: { email } }));
  const [isSent, setSent] = useState(false);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(fieldsOf(event.currentTarget).code ?? '');
      }}
    >
      <h1>Confirm your address</h1>
      <p>
        A mail with a code of six digits is on its way to <strong>{email}</strong>. It is good for ten
        minutes.
      </p>
      <TextField
        label="Code"
        name="code"
        inputMode="numeric"
        autocomplete="one-time-code"
        pattern="[0-9]{6}"
        maxLength={6}
        error={action.failure?.fields.code}
        isRequired
        isFocused
      />
      {action.failure && <FailureNotice failure={action.failure} />}
      {again.failure && <FailureNotice failure={again.failure} />}
      <Button type="submit" kind="primary" isBusy={action.isBusy}>
        Confirm
      </Button>
      <p class="gate-links">
        <Button kind="quiet" isBusy={again.isBusy} onPress={async () => setSent(await again.run())}>
          {isSent ? 'Sent again' : 'Send it again'}
        </Button>
        <a href="/sign-in">Back</a>
      </p>
    </form>
  );
}

function ForgotPassword() {
  useTitle('Forgotten password');
  const [isSent, setSent] = useState(false);
  const action = useAction((email: string) => api.forgotPassword({ body: { email } }));
  if (isSent)
    return (
      <section>
        <h1>Look into your mail</h1>
        <p role="status">
          If the address has an account, a link to set a new password is on its way. It works once, for 30
          minutes.
        </p>
        <p class="gate-links">
          <a href="/sign-in">Back to the sign-in</a>
        </p>
      </section>
    );
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault();
        setSent(await action.run(fieldsOf(event.currentTarget).email ?? ''));
      }}
    >
      <h1>Forgotten password</h1>
      <TextField
        label="E-mail"
        name="email"
        type="email"
        autocomplete="username"
        error={action.failure?.fields.email}
        isRequired
        isFocused
      />
      {action.failure && <FailureNotice failure={action.failure} />}
      <Button type="submit" kind="primary" isBusy={action.isBusy}>
        Send the link
      </Button>
      <p class="gate-links">
        <a href="/sign-in">Back to the sign-in</a>
      </p>
    </form>
  );
}
