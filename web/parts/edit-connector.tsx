/** What a connector tells of, and of which projects. */
import type { NoticeKind, NotificationConnector } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { capital, words } from '../data/words.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';

/** Every one of them, or the compiler says which is missing. */
const told: Readonly<Record<NoticeKind, true>> = {
  deployment_started: true,
  deployment_succeeded: true,
  deployment_failed: true,
  deployment_cancelled: true,
  environment_degraded: true,
  environment_recovered: true,
  backup_failed: true,
  backup_missed: true,
  backup_recovered: true,
  certificate_failing: true,
  certificate_expiring: true,
  domain_lost: true,
  server_unreachable: true,
  server_back: true,
  server_host_key_changed: true,
  server_security_worse: true,
  cluster_degraded: true,
  cluster_no_quorum: true,
  cluster_unreachable: true,
  cluster_recovered: true,
  token_revoked: true,
};

interface EditProps {
  readonly connector: NotificationConnector;
  readonly onStored: () => Promise<void>;
  readonly onClose: () => void;
}

export function EditConnector({ connector, onStored, onClose }: EditProps) {
  const { id, name, events, allProjects } = connector;
  const store = useAction(async (fields: Readonly<Record<string, string>>) => {
    const chosen = Object.keys(told).filter((kind) => fields[kind] === 'on') as NoticeKind[];
    const body = { name: fields.name ?? name, events: chosen, allProjects: fields.allProjects === 'on' };
    await api.updateNotificationConnector({ id, body });
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
        <fieldset class="pairs">
          <legend>It tells of</legend>
          {Object.keys(told).map((kind) => (
            <label class="check" key={kind}>
              <input type="checkbox" name={kind} defaultChecked={events.some((event) => event === kind)} />
              {capital(words(kind))}
            </label>
          ))}
        </fieldset>
        <label class="check">
          <input type="checkbox" name="allProjects" defaultChecked={allProjects} />
          Of every project, not only of those that it is linked to
        </label>
        {store.failure && <FailureNotice failure={store.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={store.isBusy}>
            Store
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
