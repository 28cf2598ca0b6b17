/** The installation itself, for those who look after it. */
import { useState } from 'preact/hooks';
import type { Installation } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useResource } from '../data/resource.ts';
import { signedIn } from '../data/session.ts';
import { useTitle } from '../parts/title.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
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
            </dl>
            <div class="columns">
              <RegistrationForm value={value.registration} onStored={installation.set} />
              <MailTest mail={value.mail} />
              <Operators value={value} onStored={installation.set} />
              <Limits limits={value.limits} />
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
          Save
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

interface OperatorsProps {
  readonly value: Installation;
  readonly onStored: (value: Installation) => void;
}

/** Members of the present workspace can be added: whom nobody knows by name cannot be chosen. */
function Operators({ value: { operators }, onStored }: OperatorsProps) {
  const [removing, remove] = useState<Installation['operators'][number]>();
  const workspace = signedIn.value?.workspace.id ?? '';
  const members = useResource(`members of ${workspace}`, (options) =>
    api.listMembers({ id: workspace, limit: 100 }, options),
  );
  const ids = operators.map(({ id }) => id);
  const others = (members.value?.items ?? []).filter(({ account }) => !ids.includes(account.id));
  const store = async (operatorIds: readonly string[]) =>
    onStored(await api.updateInstallation({ body: { operatorIds } }));
  const add = useAction((id: string) => store([...ids, id]));
  return (
    <section class="card stack" aria-label="Operators">
      <h2>Who looks after it</h2>
      <ul class="plain stack">
        {operators.map((operator) => (
          <li class="section-head" key={operator.id}>
            <span class="clip">{operator.email}</span>
            <Button
              kind="quiet"
              label={`Remove ${operator.email}`}
              why={operators.length === 1 ? 'The last one stays.' : undefined}
              onPress={() => remove(operator)}
            >
              Remove
            </Button>
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <form
          class="row row-bottom"
          aria-label="Add an operator"
          onSubmit={(event) => {
            event.preventDefault();
            void add.run(fieldsOf(event.currentTarget).account ?? '');
          }}
        >
          <div class="grow">
            <SelectField
              label="Add a member of this workspace"
              name="account"
              options={others.map(({ account }) => ({ value: account.id, text: account.email }))}
            />
          </div>
          <Button type="submit" isBusy={add.isBusy}>
            Add
          </Button>
        </form>
      )}
      {add.failure && <FailureNotice failure={add.failure} />}
      {removing && (
        <Confirm
          title={`Remove ${removing.email}?`}
          verb="Remove"
          name={removing.email}
          isDangerous
          onConfirm={() => store(ids.filter((id) => id !== removing.id))}
          onClose={() => remove(undefined)}
        >
          <p>They see and change nothing of the installation any more. Their account and workspaces stay.</p>
        </Confirm>
      )}
    </section>
  );
}

const limitTexts: Readonly<Record<keyof Installation['limits'], string>> = {
  requests: 'Requests a minute',
  signIn: 'Tries to sign in',
  search: 'Searches and looks a minute',
  triggers: 'Deployments and backups a minute',
  streams: 'Open streams',
};

function Limits({ limits }: { readonly limits: Installation['limits'] }) {
  return (
    <section class="card stack" aria-label="Limits">
      <h2>Limits</h2>
      <p class="hint">As the settings of the service say.</p>
      <dl class="found found-wide">
        {Object.entries(limitTexts).map(([name, text]) => (
          <div key={name}>
            <dt>{text}</dt>
            <dd>
              {Object.entries(limits)
                .find(([each]) => each === name)?.[1]
                .toLocaleString('en')}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
