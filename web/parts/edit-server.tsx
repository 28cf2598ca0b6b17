import type { Server } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';

/** A new name, or the same machine at another address. */
export function EditServer({
  server: { id, name, host, port, username },
  onClose,
}: {
  readonly server: Server;
  readonly onClose: () => void;
}) {
  const store = useAction((fields: Readonly<Record<string, string>>) =>
    api.updateServer({
      id,
      body: { name: fields.name, host: fields.host, port: Number(fields.port), username: fields.username },
    }),
  );
  const errors = store.failure?.fields ?? {};
  return (
    <Dialog title={`Change ${name}`} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (await store.run(fieldsOf(event.currentTarget))) onClose();
        }}
      >
        <p class="hint">Its host key stays pinned: another machine at the new address is refused.</p>
        <TextField label="Name" name="name" value={name} error={errors.name} isRequired isFocused />
        <TextField label="Host" name="host" value={host} error={errors.host} isRequired />
        <div class="pairs">
          <TextField
            label="Port"
            name="port"
            type="number"
            value={String(port)}
            error={errors.port}
            isRequired
          />
          <TextField label="User" name="username" value={username} error={errors.username} isRequired />
        </div>
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
