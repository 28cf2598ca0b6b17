/** A dump from elsewhere into a database of the environment; a backup of the present is made first. */
import type { Environment } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { SelectField } from '../ui/field.tsx';

interface ImportProps {
  readonly environment: Environment;
  readonly onStarted: () => Promise<void>;
  readonly onClose: () => void;
}

export function ImportDump({ environment: { id, services }, onStarted, onClose }: ImportProps) {
  const send = useAction(async (file: File, serviceId: string) => {
    await api.importDump({ id, body: { file, serviceId } });
    await onStarted();
  });
  return (
    <Dialog title="Import a dump" onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const data = new FormData(event.currentTarget);
          const file = data.get('file');
          if (file instanceof File && (await send.run(file, String(data.get('service'))))) onClose();
        }}
      >
        <p class="hint">
          The data of the database becomes that of the file. A backup of the present is made first, and where
          the database can, it is all or nothing.
        </p>
        <SelectField
          label="Into"
          name="service"
          options={services.map(({ id: value, name, kind }) => ({ value, text: `${name} (${kind})` }))}
        />
        <div class="field">
          <label for="dump">File</label>
          <input class="input" id="dump" name="file" type="file" required />
          <div class="note">.sql, .sql.gz, .sql.zst, or a dump of the database’s own tool.</div>
        </div>
        {send.failure && <FailureNotice failure={send.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={send.isBusy}>
            Import
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
