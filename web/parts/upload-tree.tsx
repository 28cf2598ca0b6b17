/** A folder of one's own machine as a deployment, committed or not. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { api } from '../data/api.ts';
import { bytes } from '../data/words.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Copy } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';

const pack = 'tar cz --exclude=.git --exclude=node_modules -f tree.tar.gz .';

export function UploadTree({
  environmentId: id,
  onClose,
}: {
  readonly environmentId: string;
  readonly onClose: () => void;
}) {
  const { route } = useLocation();
  const [file, setFile] = useState<File>();
  const send = useAction(async (body: File, message: string) => {
    const deployment = await api.deployUpload({ id, body, ...(message && { message }) });
    route(`/environments/${id}/deployments/${deployment.id}`);
  });
  return (
    <Dialog title="Deploy a folder" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const data = new FormData(event.currentTarget);
          if (file) void send.run(file, String(data.get('message') ?? ''));
        }}
      >
        <p class="hint">
          Pack the root of the repository as it is on your machine, pushed or not. It is built and proven as
          any commit, and changes nothing about the branch.
        </p>
        <div class="copy-line">
          <code>{pack}</code>
          <Copy text={pack} label="Copy the command" />
        </div>
        <div class="field">
          <label for="tree">Archive</label>
          <input
            class="input"
            id="tree"
            name="tree"
            type="file"
            accept=".tar.gz,.tgz"
            required
            // It is what the dialog asks for.
            autofocus
            onChange={(event) => setFile(event.currentTarget.files?.[0])}
          />
          <div class="note">{file ? bytes(file.size) : '.tar.gz'}</div>
        </div>
        <TextField
          label="Message"
          name="message"
          placeholder="Try the new prices"
          hint="Shown in place of the message of a commit. May stay empty."
          error={send.failure?.fields.message}
        />
        {send.failure && <FailureNotice failure={send.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Cancel</Button>
          <Button
            type="submit"
            kind="primary"
            isBusy={send.isBusy}
            why={file ? undefined : 'Choose an archive first.'}
          >
            {send.isBusy ? 'Sending …' : 'Deploy it'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
