/**
 * What hands out secrets, or weakens what protects an account or a workspace, asks who it is again: for the second factor
 * where the account has one, else for the password, or at the provider where there is none. One dialog for whoever needs it.
 */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { type Failure, failureOf } from '../data/failure.ts';
import { useResource } from '../data/resource.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Await } from './empty.tsx';
import { FailureNotice } from './failure.tsx';
import { TextField } from './field.tsx';

const asked = signal<((isProven: boolean) => void) | undefined>(undefined);

export function askProof(): Promise<boolean> {
  return new Promise((resolve) => {
    asked.value = (isProven) => {
      asked.value = undefined;
      resolve(isProven);
    };
  });
}

export function ProofDialog() {
  const answer = asked.value;
  if (!answer) return null;
  return (
    <Dialog title="Confirm that it is you" onClose={() => answer(false)}>
      <Proof answer={answer} />
    </Dialog>
  );
}

function Proof({ answer }: { readonly answer: (isProven: boolean) => void }) {
  const ways = useResource('ways to prove', async (options) => {
    const [{ totp, passkeys, recoveryCodes }, { linked }] = await Promise.all([
      api.getSecondFactors({}, options),
      api.getOidcLink({}, options),
    ]);
    const hasFactor = totp !== null || passkeys.length > 0;
    const hasCode = totp !== null || (hasFactor && (recoveryCodes?.left ?? 0) > 0);
    const typed = hasCode ? 'code' : hasFactor || linked?.isOnlyWayIn ? undefined : 'password';
    return {
      typed,
      hasPasskey: passkeys.length > 0,
      isAtProvider: !hasFactor && linked?.isOnlyWayIn,
    } as const;
  });
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  // Not an action of its own: actions come here to ask.
  const attempt = async (work: () => Promise<unknown>) => {
    setBusy(true);
    setFailure(undefined);
    await work().catch((error: unknown) => setFailure(failureOf(error)));
    setBusy(false);
  };
  const byText = async (form: HTMLFormElement) => {
    const fields = new FormData(form);
    const code = fields.get('code')?.toString().trim();
    const method = /^[0-9]{6}$/.test(code ?? '') ? 'totp' : 'recovery_code';
    const password = String(fields.get('password'));
    await api.verifyPassword({ body: code === undefined ? { password } : { method, code } });
    answer(true);
  };
  const byPasskey = async () => {
    const { challenge, passkey } = await api.createConfirmChallenge();
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(Object(passkey));
    const given = await navigator.credentials.get({ publicKey });
    if (!(given instanceof PublicKeyCredential)) return;
    const body = { challenge, method: 'passkey', credential: Object(given.toJSON()) } as const;
    await api.verifyPassword({ body });
    answer(true);
  };
  const atProvider = async () => {
    const returnTo = `${location.pathname}${location.search}`;
    location.assign((await api.startOidcConfirm({ body: { returnTo } })).url);
  };
  return (
    <Await of={ways}>
      {({ typed, hasPasskey, isAtProvider }) => (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const form = event.currentTarget;
            void attempt(() => byText(form));
          }}
        >
          {typed === 'password' && (
            <>
              <p class="hint">This needs your password, once more within ten minutes.</p>
              <TextField
                label="Password"
                name="password"
                type="password"
                autocomplete="current-password"
                isRequired
                isFocused
              />
            </>
          )}
          {typed === 'code' && (
            <TextField
              label="Code"
              name="code"
              hint="Of your authenticator app, or one of your recovery codes."
              autocomplete="one-time-code"
              isRequired
              isFocused
            />
          )}
          {isAtProvider && (
            <p class="hint">You sign in there once more, come back to this page, and do it again.</p>
          )}
          {failure && <FailureNotice failure={failure} />}
          <div class="row row-end">
            <Button onPress={() => answer(false)}>Not now</Button>
            {hasPasskey && (
              <Button kind={typed ? 'plain' : 'primary'} isBusy={isBusy} onPress={() => attempt(byPasskey)}>
                Use a passkey
              </Button>
            )}
            {isAtProvider && (
              <Button kind="primary" isBusy={isBusy} onPress={() => attempt(atProvider)}>
                Go to the provider
              </Button>
            )}
            {typed && (
              <Button type="submit" kind="primary" isBusy={isBusy}>
                Go on
              </Button>
            )}
          </div>
        </form>
      )}
    </Await>
  );
}
