/** The second step of a sign-in, for accounts that have a second factor. */
import type { SecondFactorChallenge, SignIn } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { FactorForm } from '../ui/factor-form.tsx';
import { useTitle } from './title.ts';

interface Props {
  readonly needed: SecondFactorChallenge;
  readonly enter: (answer: SignIn) => Promise<void>;
  readonly onBack: () => void;
}

export function SecondFactor({ needed, enter, onBack }: Props) {
  useTitle('Second factor');
  return (
    <>
      <h1>Second factor</h1>
      <FactorForm
        needed={needed}
        verb="Sign in"
        prove={async (proof) =>
          enter(await api.loginWithSecondFactor({ body: { challenge: needed.challenge, ...proof } }))
        }
        backText="Back"
        onBack={onBack}
      />
    </>
  );
}
