/** Where a connector leads, what it tells of, and of which projects. */
import type { NotificationConnector } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { ConnectorFields, configChange } from './connector-fields.tsx';
import { chosenNotices, NoticeChoice } from './notice-choice.tsx';

interface EditProps {
  readonly connector: NotificationConnector;
  readonly onStored: () => Promise<void>;
  readonly onClose: () => void;
}

export function EditConnector({ connector, onStored, onClose }: EditProps) {
  const { id, name, type, events, allProjects, recipients } = connector;
  const addresses = recipients.map(({ address }) => address).join(', ');
  const store = useAction(async (fields: Readonly<Record<string, string>>) => {
    await api.updateNotificationConnector({
      id,
      body: {
        name: fields.name ?? name,
        events: chosenNotices(fields),
        allProjects: fields.allProjects === 'on',
        config: configChange(type, fields),
      },
    });
    await onStored();
  });
  return (
    <Dialog title={`Change ${name}`} onClose={onClose} isWide>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (await store.run(fieldsOf(event.currentTarget))) onClose();
        }}
      >
        <TextField
          label="Name"
          name="name"
          value={name}
          error={store.failure?.fields.name}
          isRequired
          isFocused
        />
        <ConnectorFields type={type} failure={store.failure} addresses={addresses} isChange />
        <NoticeChoice chosen={events} />
        <label class="check">
          <input type="checkbox" name="allProjects" defaultChecked={allProjects} />
          Of every project, not only of those that choose it
        </label>
        {store.failure && <FailureNotice failure={store.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={store.isBusy}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
