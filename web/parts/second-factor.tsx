/** The second step of a sign-in, for accounts that have a second factor. */
import { useState } from 'preact/hooks';
import type { SecondFactorChallenge, SignIn } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { useTitle } from './title.ts';

type CodeMethod = 'totp' | 'recovery_code';

const asked: Readonly<Record<CodeMethod, { readonly label: string; readonly hint: string }>> = {
  totp: { label: 'Code', hint: 'The six digits that your authenticator app shows now.' },
  recovery_code: { label: 'Recovery code', hint: 'One of the ten that you were given. Each works once.' },
};

interface Props {
  readonly needed: SecondFactorChallenge;
  readonly enter: (answer: SignIn) => Promise<void>;
  readonly onBack: () => void;
}

export function SecondFactor({ needed, enter, onBack }: Props) {
  useTitle('Second factor');
  const { challenge, methods, passkey } = needed;
  const codes = (['totp', 'recovery_code'] as const).filter((method) => methods.includes(method));
  const [method, setMethod] = useState<CodeMethod | undefined>(codes[0]);
  const byCode = useAction(async (code: string) => {
    if (method) await enter(await api.loginWithSecondFactor({ body: { challenge, method, code } }));
  });
  const byPasskey = useAction(async () => {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(Object(passkey));
    const given = await navigator.credentials.get({ publicKey });
    if (!(given instanceof PublicKeyCredential)) return;
    const body = { challenge, method: 'passkey', credential: Object(given.toJSON()) } as const;
    await enter(await api.loginWithSecondFactor({ body }));
  });
  const other = codes.find((each) => each !== method);
  const { failure } = byCode;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void byCode.run(fieldsOf(event.currentTarget).code ?? '');
      }}
    >
      <h1>Second factor</h1>
      {passkey && (
        <Button kind={method ? 'plain' : 'primary'} isBusy={byPasskey.isBusy} onPress={() => byPasskey.run()}>
          Use a passkey
        </Button>
      )}
      {byPasskey.failure && <FailureNotice failure={byPasskey.failure} />}
      {method && (
        <>
          <TextField
            key={method}
            label={asked[method].label}
            name="code"
            hint={asked[method].hint}
            autocomplete="one-time-code"
            {...(method === 'totp' && { inputMode: 'numeric', pattern: '[0-9]{6}', maxLength: 6 })}
            error={failure?.fields.code}
            isRequired
            isFocused
          />
          {failure && <FailureNotice failure={failure} />}
          <Button type="submit" kind="primary" isBusy={byCode.isBusy}>
            Sign in
          </Button>
        </>
      )}
      <p class="gate-links">
        {other && (
          <Button kind="quiet" onPress={() => setMethod(other)}>
            {other === 'totp' ? 'Use the authenticator app' : 'Use a recovery code'}
          </Button>
        )}
        <Button kind="quiet" onPress={onBack}>
          Back
        </Button>
      </p>
    </form>
  );
}
