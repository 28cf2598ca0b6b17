import { useState } from 'preact/hooks';
import type { NewNotificationConnector } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { CopyRow } from '../ui/copy.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { SelectField, TextField } from '../ui/field.tsx';

type Kind = NewNotificationConnector['type'];

const kinds: readonly { readonly value: Kind; readonly text: string }[] = [
  { value: 'slack', text: 'Slack' },
  { value: 'discord', text: 'Discord' },
  { value: 'teams', text: 'Microsoft Teams' },
  { value: 'telegram', text: 'Telegram' },
  { value: 'email', text: 'Mail' },
  { value: 'webhook', text: 'Webhook of your own' },
];

function wishOf(type: Kind, fields: Readonly<Record<string, string>>): NewNotificationConnector {
  const { name = '', url = '', to = '', botToken = '', chatId = '' } = fields;
  if (type === 'email')
    return { type, name, config: { to: to.split(/[\s,]+/).filter(Boolean) }, allProjects: true };
  if (type === 'telegram') return { type, name, config: { botToken, chatId }, allProjects: true };
  if (type === 'webhook') return { type, name, config: { url }, allProjects: true };
  return { type, name, config: { webhookUrl: url }, allProjects: true };
}

interface AddProps {
  readonly onAdded: () => Promise<void>;
  readonly onClose: () => void;
}

/** A connector for all projects; which notices it tells is what the service holds for useful. */
export function AddConnector({ onAdded, onClose }: AddProps) {
  const [type, setType] = useState<Kind>('slack');
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
      <TextField label="Name" name="name" error={action.failure?.fields.name} isRequired />
      {type === 'email' && (
        <TextField
          label="Addresses"
          name="to"
          hint="Several with a comma between. Those outside the workspace are asked first."
          isRequired
        />
      )}
      {type === 'telegram' && (
        <TextField label="Token of the bot" name="botToken" type="password" isRequired />
      )}
      {type === 'telegram' && <TextField label="Chat" name="chatId" isRequired />}
      {type !== 'email' && type !== 'telegram' && (
        <TextField label="Webhook address" name="url" type="url" isRequired />
      )}
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
