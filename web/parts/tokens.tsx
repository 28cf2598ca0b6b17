/** Tokens for programs: shown once, each with what it may do and when it was last used. */
import { useState } from 'preact/hooks';
import type { ApiToken, ApiTokenRequest } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useProjects } from '../data/lists.ts';
import { useResource } from '../data/resource.ts';
import { words } from '../data/words.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { CopyRow } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Await, Empty } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { useAsked } from './asked.ts';

const abilities: readonly ApiTokenRequest['abilities'][number][] = [
  'read',
  'deploy',
  'change',
  'manage',
  'read_secrets',
];

export function Tokens() {
  const [asked, ask] = useAsked(['token']);
  const [revoking, revoke] = useState<ApiToken>();
  const tokens = useResource('api tokens', (options) => api.listApiTokens({ limit: 100 }, options));
  return (
    <section class="stack" aria-label="API tokens">
      <div class="section-head">
        <p class="hint">A token can do no more than you can at that moment.</p>
        <Button kind="primary" onPress={() => ask('token')}>
          New token
        </Button>
      </div>
      <Await of={tokens}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No token yet">
              <p>Programs, a CI and the command line sign in with one.</p>
            </Empty>
          ) : (
            <Table label="Tokens" heads={['Name', 'May', 'Made by', 'Last used', 'Ends', '']}>
              {items.map((token) => (
                <tr key={token.id}>
                  <td>
                    {token.name} <code class="fine">{token.start}…</code>
                  </td>
                  <td>{token.abilities.map(words).join(', ')}</td>
                  <td class="fine">{token.createdBy.email}</td>
                  <td class="fine">{token.lastUsedAt ? <Time at={token.lastUsedAt} /> : 'never'}</td>
                  <td class="fine">{token.expiresAt ? <Time at={token.expiresAt} /> : 'never'}</td>
                  <td class="end">
                    <Button kind="quiet" label={`Revoke ${token.name}`} onPress={() => revoke(token)}>
                      Revoke
                    </Button>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Await>
      {asked && <NewToken onMade={tokens.reload} onClose={() => ask(undefined)} />}
      {revoking && (
        <Confirm
          title={`Revoke ${revoking.name}?`}
          verb="Revoke it"
          name={revoking.name}
          isDangerous
          onConfirm={async () => {
            await api.deleteApiToken({ id: revoking.id });
            await tokens.reload();
          }}
          onClose={() => revoke(undefined)}
        >
          <p>Programs that use it are refused at once.</p>
        </Confirm>
      )}
    </section>
  );
}

function NewToken({
  onMade,
  onClose,
}: {
  readonly onMade: () => Promise<void>;
  readonly onClose: () => void;
}) {
  const [token, setToken] = useState<string>();
  const projects = useProjects();
  const make = useAction(async (body: ApiTokenRequest) => {
    const made = await api.createApiToken({ body });
    setToken(made.token);
    await onMade();
  });
  if (token)
    return (
      <Dialog title="The token, this once" onClose={onClose}>
        <div class="stack">
          <p>It is not kept and cannot be shown again.</p>
          <CopyRow label="Token" value={token} />
          <div class="row row-end">
            <Button kind="primary" onPress={onClose}>
              I have it
            </Button>
          </div>
        </div>
      </Dialog>
    );
  return (
    <Dialog title="New token" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const fields = fieldsOf(event.currentTarget);
          const { name = '', days, project } = fields;
          const expiresAt = days ? new Date(Date.now() + Number(days) * 86_400_000).toISOString() : undefined;
          const chosen = abilities.filter((ability) => fields[ability] === 'on');
          void make.run({
            name,
            abilities: chosen,
            ...(expiresAt && { expiresAt }),
            ...(project && { projectId: project }),
          });
        }}
      >
        <TextField
          label="Name"
          name="name"
          placeholder="CI of the shop"
          error={make.failure?.fields.name}
          isRequired
          isFocused
        />
        <fieldset class="stack">
          <legend>It may</legend>
          {abilities.map((ability) => (
            <label class="check" key={ability}>
              <input type="checkbox" name={ability} defaultChecked={ability === 'read'} />
              {words(ability)}
            </label>
          ))}
        </fieldset>
        <SelectField
          label="In"
          name="project"
          options={[
            { value: '', text: 'all of the workspace' },
            ...(projects.value ?? []).map(({ id, name }) => ({ value: id, text: `${name} alone` })),
          ]}
        />
        <TextField
          label="Ends after days"
          name="days"
          type="number"
          value="90"
          hint="Empty: never."
          error={make.failure?.fields.expiresAt}
        />
        {make.failure && <FailureNotice failure={make.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={make.isBusy}>
            Make it
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
