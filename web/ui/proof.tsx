/**
 * What hands out secrets, or weakens what protects an account or a workspace, asks who it is again: for the second factor
 * where the account has one, else for the password, or at the provider where there is none.
 */
import { useEffect, useState } from 'preact/hooks';
import type { Oidc, SecondFactorChallenge } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { fieldsOf, useAction } from './action.ts';
import { askedProof } from './ask-proof.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { FactorForm } from './factor-form.tsx';
import { FailureNotice } from './failure.tsx';
import { TextField } from './field.tsx';

interface Asked {
  readonly challenge: SecondFactorChallenge;
  readonly provider: Oidc | undefined;
  readonly hasPassword: boolean;
}

export function ProofDialog() {
  const answer = askedProof.value;
  return answer ? <Shown answer={answer} /> : null;
}

function Shown({ answer }: { readonly answer: (isProven: boolean) => void }) {
  const [asked, setAsked] = useState<Asked>();
  const look = useAction(async () => {
    const challenge = await api.createConfirmChallenge();
    const linked = challenge.methods.length === 0 ? (await api.getOidcLink()).linked : null;
    setAsked({
      challenge,
      provider: linked?.isCurrent ? await api.getOidc() : undefined,
      hasPassword: linked?.isOnlyWayIn !== true,
    });
  });
  // Once for each time that it is asked for.
  useEffect(() => void look.run(), []);
  const decline = () => answer(false);
  return (
    <Dialog title="Confirm that it is you" onClose={decline}>
      {look.failure && <FailureNotice failure={look.failure} />}
      {!asked && !look.failure && (
        <div class="skeleton" role="status" aria-label="Loading">
          <span />
          <span />
        </div>
      )}
      {asked && asked.challenge.methods.length === 0 && (
        <PasswordForm provider={asked.provider} hasPassword={asked.hasPassword} answer={answer} />
      )}
      {asked && asked.challenge.methods.length > 0 && (
        <>
          <p class="hint">This asks for your second factor, once more within ten minutes.</p>
          <FactorForm
            needed={asked.challenge}
            verb="Go on"
            prove={async (proof) => {
              await api.verifyPassword({ body: proof });
              answer(true);
            }}
            backText="Not now"
            onBack={decline}
          />
        </>
      )}
    </Dialog>
  );
}

interface PasswordProps {
  readonly provider: Oidc | undefined;
  readonly hasPassword: boolean;
  readonly answer: (isProven: boolean) => void;
}

function PasswordForm({ provider, hasPassword, answer }: PasswordProps) {
  const prove = useAction(async (password: string) => {
    await api.verifyPassword({ body: { password } });
    answer(true);
  });
  const leave = useAction(async () => {
    const returnTo = `${location.pathname}${location.search}`;
    location.assign((await api.startOidcConfirm({ body: { returnTo } })).url);
  });
  const failure = prove.failure ?? leave.failure;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void prove.run(fieldsOf(event.currentTarget).password ?? '');
      }}
    >
      {hasPassword ? (
        <>
          <p class="hint">This asks for your password, once more within ten minutes.</p>
          <TextField
            label="Password"
            name="password"
            type="password"
            autocomplete="current-password"
            isRequired
            isFocused
          />
        </>
      ) : (
        <p class="hint">You sign in there once more, come back to this page, and do it again.</p>
      )}
      {failure && <FailureNotice failure={failure} />}
      <div class="row row-end">
        <Button onPress={() => answer(false)}>Not now</Button>
        {provider && (
          <Button kind={hasPassword ? 'plain' : 'primary'} isBusy={leave.isBusy} onPress={() => leave.run()}>
            Sign in again with {provider.name ?? 'single sign-on'}
          </Button>
        )}
        {hasPassword && (
          <Button type="submit" kind="primary" isBusy={prove.isBusy}>
            Go on
          </Button>
        )}
      </div>
    </form>
  );
}
