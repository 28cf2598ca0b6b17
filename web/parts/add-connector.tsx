import { useState } from 'preact/hooks';
import type { NewNotificationConnector } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { CopyRow } from '../ui/copy.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { ConnectorFields, type ConnectorKind, wishOf } from './connector-fields.tsx';

const kinds: readonly { readonly value: ConnectorKind; readonly text: string }[] = [
  { value: 'slack', text: 'Slack' },
  { value: 'discord', text: 'Discord' },
  { value: 'teams', text: 'Microsoft Teams' },
  { value: 'telegram', text: 'Telegram' },
  { value: 'email', text: 'Mail' },
  { value: 'webhook', text: 'Webhook of your own' },
];

interface AddProps {
  readonly onAdded: () => Promise<void>;
  readonly onClose: () => void;
}

/** What it tells of at first is what the service holds for useful. */
export function AddConnector({ onAdded, onClose }: AddProps) {
  const [type, setType] = useState<ConnectorKind>('slack');
  const [secret, setSecret] = useState<string>();
  const action = useAction(async (wish: NewNotificationConnector) => {
    const made = await api.createNotificationConnector({ body: wish });
    await onAdded();
    if (made.secret) setSecret(made.secret);
    else onClose();
  });
  if (secret)
    return (
      <div class="stack">
        <p>Messages are signed with this secret. It is shown once:</p>
        <CopyRow label="Secret" value={secret} />
        <div class="row row-end">
          <Button kind="primary" onPress={onClose}>
            I have it
          </Button>
        </div>
      </div>
    );
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(wishOf(type, fieldsOf(event.currentTarget)));
      }}
    >
      <SelectField
        label="Where to"
        name="type"
        value={type}
        options={kinds}
        onChoice={(value) => setType(kinds.find((each) => each.value === value)?.value ?? 'slack')}
      />
      <TextField
        label="Name"
        name="name"
        placeholder="Team channel"
        error={action.failure?.fields.name}
        isRequired
      />
      <ConnectorFields type={type} failure={action.failure} />
      <label class="check">
        <input type="checkbox" name="allProjects" defaultChecked />
        Of every project, not only of those that choose it
      </label>
      {action.failure && <FailureNotice failure={action.failure} />}
      <div class="row row-end">
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isBusy={action.isBusy}>
          Add
        </Button>
      </div>
    </form>
  );
}
