/** What cannot be taken back, and what shows secrets, asks for the password again. One dialog for whoever needs it. */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { type Failure, failureOf } from '../data/failure.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
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
  const [failure, setFailure] = useState<Failure>();
  const answer = asked.value;
  if (!answer) return null;
  return (
    <Dialog title="Confirm that it is you" onClose={() => answer(false)}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const password = String(new FormData(event.currentTarget).get('password'));
          try {
            await api.verifyPassword({ body: { password } });
            setFailure(undefined);
            answer(true);
          } catch (error) {
            setFailure(failureOf(error));
          }
        }}
      >
        <p class="hint">This needs your password, once more within ten minutes.</p>
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
          <Button type="submit" kind="primary">
            Go on
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
