/** What a connector of each kind has to know. */
import type { NewNotificationConnector, NotificationConnectorChange } from '../../sdk/index.ts';
import type { Failure } from '../data/failure.ts';
import { TextField } from '../ui/field.tsx';

export type ConnectorKind = NewNotificationConnector['type'];

type Fields = Readonly<Record<string, string>>;

function addressesOf({ to = '' }: Fields): string[] {
  return to.split(/[\s,]+/).filter(Boolean);
}

/** As the fields of the form say. */
export function wishOf(type: ConnectorKind, fields: Fields): NewNotificationConnector {
  const { name = '', url = '', botToken = '', chatId = '' } = fields;
  const allProjects = fields.allProjects === 'on';
  if (type === 'email') return { type, name, config: { to: addressesOf(fields) }, allProjects };
  if (type === 'telegram') return { type, name, config: { botToken, chatId }, allProjects };
  if (type === 'webhook') return { type, name, config: { url }, allProjects };
  return { type, name, config: { webhookUrl: url }, allProjects };
}

/** Nothing, where it stays as it is: what is secret of it is never shown, so an empty field says nothing. */
export function configChange(type: ConnectorKind, fields: Fields): NotificationConnectorChange['config'] {
  const { url = '', botToken = '', chatId = '' } = fields;
  if (type === 'email') return { to: addressesOf(fields) };
  if (type === 'telegram') return botToken || chatId ? { botToken, chatId } : undefined;
  if (url === '') return undefined;
  return type === 'webhook' ? { url } : { webhookUrl: url };
}

interface FieldsProps {
  readonly type: ConnectorKind;
  readonly failure: Failure | undefined;
  /** Of one that is there: what stays empty stays as it is. */
  readonly isChange?: boolean;
  readonly addresses?: string;
}

export function ConnectorFields({ type, failure, isChange = false, addresses = '' }: FieldsProps) {
  const errors = failure?.fields ?? {};
  const kept = isChange ? 'Empty: as it is.' : undefined;
  if (type === 'email')
    return (
      <TextField
        label="Addresses"
        name="to"
        value={addresses}
        hint="Several with a comma between. Those outside the workspace are asked first."
        error={errors['config.to'] ?? errors['config.to.0']}
        isRequired
      />
    );
  if (type === 'telegram')
    return (
      <>
        <TextField
          label="Token of the bot"
          name="botToken"
          type="password"
          hint={kept}
          error={errors['config.botToken']}
          isRequired={!isChange}
        />
        <TextField
          label="Chat"
          name="chatId"
          hint={kept ? 'Empty: as it is. With a new chat, the token is needed again.' : undefined}
          error={errors['config.chatId']}
          isRequired={!isChange}
        />
      </>
    );
  return (
    <TextField
      label="Webhook address"
      name="url"
      type="url"
      hint={kept}
      error={errors['config.webhookUrl'] ?? errors['config.url']}
      isRequired={!isChange}
    />
  );
}
