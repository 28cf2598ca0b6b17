/**
 * Where links in mails lead: into a workspace that one is invited to, and to a new password. The token stands behind
 * the `#`, so it is in no server's log and no referrer.
 */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { api } from '../data/api.ts';
import { mailToken } from '../data/mail-token.ts';
import { chooseWorkspace, forgetSession, reloadUser, signedIn, signOut } from '../data/session.ts';
import { useTitle } from '../parts/title.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';

/** For whoever is signed in: the invitation is for one address, and the service says where that is another. */
export function Join() {
  useTitle('Join a workspace');
  const { route } = useLocation();
  const token = mailToken();
  const join = useAction(async () => {
    const { workspaceId } = await api.acceptInvitation({ body: { token } });
    await reloadUser();
    chooseWorkspace(workspaceId);
    route('/', true);
  });
  const leave = useAction(signOut);
  return (
    <main class="gate">
      <img src="/favicon.svg" alt="" width="40" height="40" />
      <section>
        <h1>Join a workspace</h1>
        {token === '' ? (
          <Incomplete />
        ) : (
          <p>
            You are invited. You are signed in as <strong>{signedIn.value?.user.email}</strong>, and join with
            this account.
          </p>
        )}
        {join.failure && <FailureNotice failure={join.failure} />}
        {token !== '' && (
          <Button kind="primary" isBusy={join.isBusy} onPress={join.run}>
            Join
          </Button>
        )}
        <p class="gate-links">
          <Button kind="quiet" isBusy={leave.isBusy} onPress={leave.run}>
            Use another account
          </Button>
          <a href="/">Not now</a>
        </p>
      </section>
    </main>
  );
}

export function ResetPassword() {
  useTitle('Set a new password');
  const [isSet, setDone] = useState(false);
  const token = mailToken();
  const action = useAction(async (password: string) => {
    await api.resetPassword({ body: { token, password } });
    // Every session of the account has ended with it, this one too where there was one.
    await forgetSession();
  });
  return (
    <main class="gate">
      <img src="/favicon.svg" alt="" width="40" height="40" />
      {isSet ? (
        <section>
          <h1>Your password is set</h1>
          <p role="status">Whoever was signed in with the old one no longer is.</p>
          <p class="gate-links">
            <a href="/sign-in">Sign in</a>
          </p>
        </section>
      ) : (
        <form
          onSubmit={async (event) => {
            event.preventDefault();
            setDone(await action.run(fieldsOf(event.currentTarget).password ?? ''));
          }}
        >
          <h1>Set a new password</h1>
          {token === '' && <Incomplete />}
          <TextField
            label="New password"
            name="password"
            type="password"
            autocomplete="new-password"
            minLength={10}
            maxLength={128}
            hint="Ten characters or more, and none of the common ones."
            error={action.failure?.fields.password}
            isRequired
            isFocused
          />
          {action.failure && <FailureNotice failure={action.failure} />}
          <Button
            type="submit"
            kind="primary"
            isBusy={action.isBusy}
            why={token === '' ? 'The link is incomplete.' : undefined}
          >
            Set the password
          </Button>
          <p class="gate-links">
            <a href="/forgot-password">Ask for a new link</a>
          </p>
        </form>
      )}
    </main>
  );
}

function Incomplete() {
  return (
    <p class="notice notice-warn" role="status">
      This link is incomplete. Open it again from the mail.
    </p>
  );
}
