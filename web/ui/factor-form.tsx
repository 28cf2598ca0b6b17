/** A second factor: a passkey, the code of an app, or a recovery code. The same at the sign-in and wherever a fresh proof is asked for. */
import { useState } from 'preact/hooks';
import type { PasskeyAssertion, SecondFactorChallenge } from '../../sdk/index.ts';
import { signWithPasskey, whyNoPasskeys } from '../data/passkeys.ts';
import { fieldsOf, useAction } from './action.ts';
import { Button } from './button.tsx';
import { FailureNotice } from './failure.tsx';
import { TextField } from './field.tsx';

export type FactorProof =
  | { readonly method: 'totp'; readonly code: string }
  | { readonly method: 'recovery_code'; readonly code: string }
  | { readonly method: 'passkey'; readonly challenge: string; readonly credential: PasskeyAssertion };

type CodeMethod = 'totp' | 'recovery_code';

const asked: Readonly<Record<CodeMethod, { readonly label: string; readonly hint: string }>> = {
  totp: { label: 'Code', hint: 'The six digits that your authenticator app shows now.' },
  recovery_code: { label: 'Recovery code', hint: 'One of the ten that you were given. Each works once.' },
};

interface FactorFormProps {
  readonly needed: SecondFactorChallenge;
  readonly verb: string;
  readonly prove: (proof: FactorProof) => Promise<unknown>;
  readonly backText: string;
  readonly onBack: () => void;
}

export function FactorForm({ needed, verb, prove, backText, onBack }: FactorFormProps) {
  const { challenge, methods, passkey } = needed;
  const codes = (['totp', 'recovery_code'] as const).filter((method) => methods.includes(method));
  const [method, setMethod] = useState<CodeMethod | undefined>(codes[0]);
  const byCode = useAction(async (code: string) => {
    if (method) await prove({ method, code });
  });
  const byPasskey = useAction(async () => {
    if (passkey) await prove({ method: 'passkey', challenge, credential: await signWithPasskey(passkey) });
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
      {passkey && (
        <Button
          kind={codes.includes('totp') ? 'plain' : 'primary'}
          isBusy={byPasskey.isBusy}
          why={whyNoPasskeys()}
          onPress={() => byPasskey.run()}
        >
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
            isFocused={!passkey}
          />
          {failure && <FailureNotice failure={failure} />}
          <Button type="submit" kind={codes.includes('totp') ? 'primary' : 'plain'} isBusy={byCode.isBusy}>
            {verb}
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
          {backText}
        </Button>
      </p>
    </form>
  );
}
