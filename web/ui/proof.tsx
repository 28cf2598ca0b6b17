/** What cannot be taken back, and what shows secrets, asks for a proof again: the second factor, or without one the password. */
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
  /** Who signs in there has perhaps no password here. */
  readonly provider: Oidc | undefined;
}

export function ProofDialog() {
  const answer = askedProof.value;
  return answer ? <Shown answer={answer} /> : null;
}

function Shown({ answer }: { readonly answer: (isProven: boolean) => void }) {
  const [asked, setAsked] = useState<Asked>();
  const look = useAction(async () => {
    const challenge = await api.createConfirmChallenge();
    const isByPassword = challenge.methods.length === 0;
    const isLinked = isByPassword && (await api.getOidcLink()).linked?.isCurrent === true;
    setAsked({ challenge, provider: isLinked ? await api.getOidc() : undefined });
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
        <PasswordForm provider={asked.provider} answer={answer} />
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
  readonly answer: (isProven: boolean) => void;
}

function PasswordForm({ provider, answer }: PasswordProps) {
  const prove = useAction(async (password: string) => {
    await api.verifyPassword({ body: { password } });
    answer(true);
  });
  const leave = useAction(async () => {
    const returnTo = location.pathname;
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
      <p class="hint">This asks for your password, once more within ten minutes.</p>
      <TextField
        label="Password"
        name="password"
        type="password"
        autocomplete="current-password"
        isRequired
        isFocused
      />
      {failure && <FailureNotice failure={failure} />}
      <div class="row row-end">
        <Button onPress={() => answer(false)}>Not now</Button>
        {provider && (
          <Button isBusy={leave.isBusy} onPress={() => leave.run()}>
            Sign in again with {provider.name ?? 'single sign-on'}
          </Button>
        )}
        <Button type="submit" kind="primary" isBusy={prove.isBusy}>
          Go on
        </Button>
      </div>
    </form>
  );
}
