/** The workspace itself: its name, whether it requires a second factor, leaving it, its end, and a new one. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Workspace } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { type Used, useResource } from '../data/resource.ts';
import { chooseWorkspace, reloadUser, signedIn, whyNot } from '../data/session.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';

export function WorkspaceSettings() {
  const id = signedIn.value?.workspace.id ?? '';
  const workspace = useResource(`workspace ${id}`, (options) => api.getWorkspace({ id }, options));
  return (
    <Await of={workspace} lines={6}>
      {(value) => (
        <div class="columns">
          <div class="stack">
            <Name workspace={value} used={workspace} />
            <Requirement workspace={value} used={workspace} />
          </div>
          <div class="stack">
            <NewWorkspace />
            <Leaving workspace={value} />
          </div>
        </div>
      )}
    </Await>
  );
}

interface PartProps {
  readonly workspace: Workspace;
  readonly used: Used<Workspace>;
}

function Name({ workspace: { id, name }, used }: PartProps) {
  const rename = useAction(async (next: string) => {
    used.set(await api.updateWorkspace({ id, body: { name: next } }));
    await reloadUser();
  });
  return (
    <form
      class="card form"
      aria-label="Name"
      onSubmit={(event) => {
        event.preventDefault();
        void rename.run(fieldsOf(event.currentTarget).name ?? '');
      }}
    >
      <h2>Name</h2>
      <TextField label="Name" name="name" value={name} error={rename.failure?.fields.name} isRequired />
      {rename.failure && <FailureNotice failure={rename.failure} />}
      <div class="row">
        <Button type="submit" isBusy={rename.isBusy} why={whyNot('manage')}>
          Rename
        </Button>
      </div>
    </form>
  );
}

function Requirement({ workspace: { id, name, requiresSecondFactor }, used }: PartProps) {
  const [isAsked, ask] = useState(false);
  const members = useResource(`members of ${id}`, (options) => api.listMembers({ id, limit: 100 }, options));
  const without = (members.value?.items ?? []).filter(({ secondFactor }) => !secondFactor);
  const store = async (wanted: boolean) => {
    used.set(await api.updateWorkspace({ id, body: { requiresSecondFactor: wanted } }));
  };
  return (
    <section class="card stack" aria-label="Second factor">
      <h2>Second factor</h2>
      <p class="hint">
        {requiresSecondFactor
          ? 'Required: there is nothing here for members without one, nor for their API tokens.'
          : 'Not required: a password alone opens what is here.'}
      </p>
      <div class="row">
        <Button why={whyNot('own')} onPress={() => ask(true)}>
          {requiresSecondFactor ? 'Require it no more' : 'Require a second factor'}
        </Button>
      </div>
      {isAsked && (
        <Confirm
          title={requiresSecondFactor ? 'Require it no more?' : `Require a second factor in ${name}?`}
          verb={requiresSecondFactor ? 'Require it no more' : 'Require it'}
          isDangerous={!requiresSecondFactor && without.length > 0}
          onConfirm={() => store(!requiresSecondFactor)}
          onClose={() => ask(false)}
        >
          {requiresSecondFactor ? (
            <p>A password alone opens the workspace again, for those who have no second factor.</p>
          ) : (
            <p>
              {without.length === 0
                ? 'Every member has one, so nobody notices.'
                : `At once, nothing here opens for ${without.map(({ account }) => account.email).join(', ')} and their API tokens, until they have set one up.`}
            </p>
          )}
        </Confirm>
      )}
    </section>
  );
}

function NewWorkspace() {
  const { route } = useLocation();
  const make = useAction(async (name: string) => {
    const { id } = await api.createWorkspace({ body: { name } });
    await reloadUser();
    chooseWorkspace(id);
    route('/');
  });
  return (
    <form
      class="card form"
      aria-label="New workspace"
      onSubmit={(event) => {
        event.preventDefault();
        void make.run(fieldsOf(event.currentTarget).name ?? '');
      }}
    >
      <h2>Another workspace</h2>
      <TextField
        label="Its name"
        name="name"
        hint="With servers, projects and members of its own. You are its owner."
        error={make.failure?.fields.name}
        isRequired
      />
      {make.failure && <FailureNotice failure={make.failure} />}
      <div class="row">
        <Button type="submit" isBusy={make.isBusy}>
          Make it
        </Button>
      </div>
    </form>
  );
}

function Leaving({ workspace: { id, name } }: { readonly workspace: Workspace }) {
  const { route } = useLocation();
  const [asked, ask] = useState<'leave' | 'delete'>();
  const [deleteData, setDeleteData] = useState(false);
  const away = async () => {
    await reloadUser();
    route('/');
  };
  return (
    <section class="card stack" aria-label="Its end">
      <h2>Leave it, or end it</h2>
      <div class="row">
        <Button onPress={() => ask('leave')}>Leave</Button>
        <Button kind="danger" why={whyNot('own')} onPress={() => ask('delete')}>
          Delete {name}
        </Button>
      </div>
      {asked === 'leave' && (
        <Confirm
          title={`Leave ${name}?`}
          verb="Leave it"
          name={name}
          isDangerous
          onConfirm={async () => {
            await api.deleteMember({ id, accountId: signedIn.value?.user.id ?? '' });
            await away();
          }}
          onClose={() => ask(undefined)}
        >
          <p>You see nothing of it any more, and your tokens in it end. The last owner cannot leave.</p>
        </Confirm>
      )}
      {asked === 'delete' && (
        <Confirm
          title={`Delete ${name}?`}
          verb="Delete it"
          name={name}
          isDangerous
          onConfirm={async () => {
            await api.deleteWorkspace({ id, deleteData });
            await away();
          }}
          onClose={() => ask(undefined)}
        >
          <p>
            Its projects with all that runs of them, then its servers, then what it knows. This cannot be
            taken back.
          </p>
          <label class="check">
            <input
              type="checkbox"
              checked={deleteData}
              onChange={(event) => setDeleteData(event.currentTarget.checked)}
            />
            Delete the data on its servers too
          </label>
        </Confirm>
      )}
    </section>
  );
}
