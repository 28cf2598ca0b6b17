/** What the app is told: one by one, or all at once as a `.env` file. Secret values are never shown. */
import { useState } from 'preact/hooks';
import { all, type ChangeNeeds, type NewVariable, type Variable } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { parseEnv } from '../data/env-file.ts';
import { gathered } from '../data/lists.ts';
import { useResource } from '../data/resource.ts';
import { whyNot } from '../data/session.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Await, Empty } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { SelectField, TextArea, TextField } from '../ui/field.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { useAsked } from './asked.ts';
import type { TabProps } from './tab.ts';

const needed: Readonly<Record<ChangeNeeds['needs'], string>> = {
  rebuild: 'Saved. The next deployment builds anew with it; press Deploy for that.',
  restart: 'Saved. The app gets it with its next deployment, which needs no build; press Deploy for that.',
  nothing: 'Saved. Nothing has to be done.',
};

type Asked = { readonly what: 'change' | 'delete'; readonly variable: Variable };

export function Variables({ environment: { id } }: TabProps) {
  const [asked, ask] = useState<Asked>();
  const [adding, add] = useAsked(['variable', 'env']);
  const [needs, setNeeds] = useState<ChangeNeeds['needs']>();
  const variables = useResource(
    `variables ${id}`,
    (options) => gathered(all((page) => api.listVariables({ ...page, id, limit: 100 }, options))),
    (event) => event.kind === 'project_updated' && event.environmentId === id && event.reason === 'variables',
  );
  const save = async (list: readonly NewVariable[]) => {
    setNeeds((await api.setVariables({ id, body: { variables: [...list] } })).needs);
    await variables.reload();
  };
  const close = () => {
    ask(undefined);
    if (adding) add(undefined);
  };
  return (
    <section class="stack" aria-label="Variables">
      <div class="section-head">
        <p class="hint">Secret values are sealed: they can be replaced, not read.</p>
        <div class="row">
          <Button why={whyNot('change')} onPress={() => add('env')}>
            Edit as .env
          </Button>
          <Button kind="primary" why={whyNot('change')} onPress={() => add('variable')}>
            Add a variable
          </Button>
        </div>
      </div>
      {needs && (
        <p class="notice" role="status">
          {needed[needs]}
        </p>
      )}
      <Await of={variables}>
        {(list) =>
          list.length === 0 ? (
            <Empty title="The app is told nothing yet">
              <p>
                Add what it reads from its environment, or paste a whole .env file. Services add their own
                addresses.
              </p>
            </Empty>
          ) : (
            <Table label="Variables and values" heads={['Key', 'Value', 'For', 'Changed', '']}>
              {list.map((variable) => (
                <tr key={variable.key}>
                  <td>
                    <code>{variable.key}</code>
                  </td>
                  <td>
                    {variable.secret ? (
                      <span class="fine">secret</span>
                    ) : (
                      <code class="value">{variable.value}</code>
                    )}
                  </td>
                  <td class="fine">{variable.target === 'both' ? 'build and run' : variable.target}</td>
                  <td class="fine">
                    <Time at={variable.updatedAt} />
                  </td>
                  <td class="end">
                    <Button
                      kind="quiet"
                      why={whyNot('change')}
                      label={`Change ${variable.key}`}
                      onPress={() => ask({ what: 'change', variable })}
                    >
                      Change
                    </Button>
                    <Button
                      kind="quiet"
                      why={whyNot('change')}
                      label={`Delete ${variable.key}`}
                      onPress={() => ask({ what: 'delete', variable })}
                    >
                      Delete
                    </Button>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Await>
      {adding === 'variable' && <OneDialog variable={undefined} save={save} onClose={close} />}
      {asked?.what === 'change' && <OneDialog variable={asked.variable} save={save} onClose={close} />}
      {adding === 'env' && variables.value && (
        <ManyDialog known={variables.value} save={save} onClose={close} />
      )}
      {asked?.what === 'delete' && (
        <Confirm
          title={`Delete ${asked.variable.key}?`}
          verb="Delete it"
          {...(asked.variable.secret && { name: asked.variable.key })}
          isDangerous
          onConfirm={async () => {
            setNeeds((await api.deleteVariable({ id, key: asked.variable.key })).needs);
            await variables.reload();
          }}
          onClose={close}
        >
          <p>
            The app keeps it until its next deployment.{' '}
            {asked.variable.secret && 'Its value cannot be brought back.'}
          </p>
        </Confirm>
      )}
    </section>
  );
}

interface SaveProps {
  readonly save: (list: readonly NewVariable[]) => Promise<void>;
  readonly onClose: () => void;
}

function targetOf(name: string | undefined): 'build' | 'runtime' | 'both' {
  return name === 'build' || name === 'both' ? name : 'runtime';
}

function OneDialog({ variable, save, onClose }: SaveProps & { readonly variable: Variable | undefined }) {
  const action = useAction(save);
  const { failure } = action;
  return (
    <Dialog title={variable ? `Change ${variable.key}` : 'Add a variable'} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const { key = variable?.key ?? '', value = '', secret, target } = fieldsOf(event.currentTarget);
          if (await action.run([{ key, value, secret: secret === 'on', target: targetOf(target) }]))
            onClose();
        }}
      >
        {!variable && (
          <TextField
            label="Key"
            name="key"
            pattern="[A-Za-z_][A-Za-z0-9_]*"
            hint="Letters, digits and _, as in DATABASE_URL."
            isRequired
            isFocused
          />
        )}
        <TextArea label="Value" name="value" rows={3} value={variable?.value ?? ''} />
        <SelectField
          label="Needed"
          name="target"
          value={variable?.target ?? 'runtime'}
          options={[
            { value: 'runtime', text: 'while it runs' },
            { value: 'build', text: 'while it is built' },
            { value: 'both', text: 'for both' },
          ]}
        />
        <label class="check">
          <input type="checkbox" name="secret" defaultChecked={variable?.secret ?? true} />
          Secret: sealed, and never shown again
        </label>
        {failure && <FailureNotice failure={failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={action.isBusy}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function ManyDialog({ known, save, onClose }: SaveProps & { readonly known: readonly Variable[] }) {
  const open = known.filter(({ secret }) => !secret);
  const [text, setText] = useState(open.map(({ key, value }) => `${key}=${value ?? ''}`).join('\n'));
  const action = useAction(save);
  const { variables, problems } = parseEnv(text);
  const secretOf = (key: string) => known.find((each) => each.key === key)?.secret ?? true;
  const changed = variables.filter(({ key, value }) => {
    const before = known.find((each) => each.key === key);
    return before?.secret === true || before?.value !== value;
  });
  const isNew = (key: string) => !known.some((each) => each.key === key);
  const targetOfKey = (key: string) => known.find((each) => each.key === key)?.target ?? 'runtime';
  return (
    <Dialog title="Variables as .env" onClose={onClose} isWide>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const list = changed.map(({ key, value }) => ({
            key,
            value,
            secret: secretOf(key),
            target: targetOfKey(key),
          }));
          if (problems.length === 0 && (await action.run(list))) onClose();
        }}
      >
        <TextArea
          label="Lines of KEY=value"
          name="text"
          rows={14}
          value={text}
          onText={setText}
          error={problems.length > 0 ? problems.join(' ') : undefined}
          hint="What is not in the text stays as it is; new ones are stored as secrets. Secret values are not shown here."
        />
        <p class="fine" role="status">
          {changed.length === 0
            ? 'Nothing would change.'
            : changed.map(({ key }) => `${isNew(key) ? 'New' : 'Changed'}: ${key}`).join(', ')}
        </p>
        {action.failure && <FailureNotice failure={action.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Cancel</Button>
          <Button
            type="submit"
            kind="primary"
            isBusy={action.isBusy}
            why={problems[0] ?? (changed.length === 0 ? 'The text changes nothing.' : undefined)}
          >
            Save {changed.length || ''}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
