/** The installation itself, for those who look after it. */
import { useState } from 'preact/hooks';
import type { Installation } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useResource } from '../data/resource.ts';
import { useTitle } from '../parts/title.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { SelectField } from '../ui/field.tsx';

type Registration = Installation['registration'];

const kinds: readonly { readonly value: Registration; readonly text: string }[] = [
  { value: 'open', text: 'Anyone may create an account' },
  { value: 'first', text: 'The first account may; all others are invited' },
  { value: 'closed', text: 'Only who is invited' },
];

export function InstallationPage() {
  useTitle('Installation');
  const installation = useResource('installation', (options) => api.getInstallation({}, options));
  return (
    <>
      <header class="page-head">
        <h1>Installation</h1>
      </header>
      <Await of={installation}>
        {(value) => (
          <>
            <dl class="facts">
              <div>
                <dt>Version</dt>
                <dd>{value.version}</dd>
              </div>
              <div>
                <dt>Accounts</dt>
                <dd>{value.accounts}</dd>
              </div>
              <div>
                <dt>Audit kept</dt>
                <dd>{value.auditDays} days</dd>
              </div>
              <div>
                <dt>Looked after by</dt>
                <dd class="clip">{value.operators.map(({ email }) => email).join(', ')}</dd>
              </div>
            </dl>
            <div class="columns">
              <RegistrationForm value={value.registration} onStored={installation.set} />
              <MailTest mail={value.mail} />
            </div>
          </>
        )}
      </Await>
    </>
  );
}

interface FormProps {
  readonly value: Registration;
  readonly onStored: (value: Installation) => void;
}

function RegistrationForm({ value, onStored }: FormProps) {
  const store = useAction(async (registration: Registration) =>
    onStored(await api.updateInstallation({ body: { registration } })),
  );
  return (
    <form
      class="card form"
      aria-label="Registration"
      onSubmit={(event) => {
        event.preventDefault();
        const wanted = fieldsOf(event.currentTarget).registration;
        void store.run(kinds.find((each) => each.value === wanted)?.value ?? value);
      }}
    >
      <h2>Who may register</h2>
      <SelectField label="Registration" name="registration" value={value} options={kinds} />
      {store.failure && <FailureNotice failure={store.failure} />}
      <div class="row">
        <Button type="submit" isBusy={store.isBusy}>
          Store
        </Button>
      </div>
    </form>
  );
}

function MailTest({ mail }: { readonly mail: string }) {
  const [said, say] = useState('');
  const test = useAction(async () => {
    const { delivered, to, detail } = await api.testMail();
    say(delivered ? `A mail is on its way to ${to}.` : detail);
  });
  return (
    <section class="card stack" aria-label="Mail">
      <h2>Mail</h2>
      <p class="hint">{mail}</p>
      {test.failure && <FailureNotice failure={test.failure} />}
      <div class="row">
        <Button isBusy={test.isBusy} onPress={test.run}>
          Send me a test
        </Button>
        <span role="status">{said}</span>
      </div>
    </section>
  );
}
