/** How a database is signed in to, for those who may: read when it is asked for, and kept nowhere. */
import { useEffect } from 'preact/hooks';
import type { ListedService } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { CopyRow } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure.tsx';

interface CredentialsProps {
  readonly environmentId: string;
  readonly service: ListedService;
  readonly onClose: () => void;
}

export function ServiceCredentials({ environmentId: id, service, onClose }: CredentialsProps) {
  const read = useAction(() => api.getServiceCredentials({ id, sid: service.id }));
  // The button that opened this has asked for it.
  useEffect(() => void read.run(), []);
  return (
    <Dialog title={`How to reach ${service.name}`} onClose={onClose} isWide>
      <div class="stack">
        <p class="hint">
          It is reached by the app alone: its name is known in the network of the environment only. From your
          own machine, the command line opens a connection through the service.
        </p>
        {read.isBusy && <div class="skeleton" role="status" aria-label="Loading" />}
        {read.failure && <FailureNotice failure={read.failure} />}
        {read.result && <CopyRow label="Address" value={read.result.url} />}
        <CopyRow label="Command" value={`slipway connect --service ${service.name}`} />
        <p class="fine">Each look is in the audit log.</p>
        <div class="row row-end">
          <Button onPress={onClose}>Close</Button>
        </div>
      </div>
    </Dialog>
  );
}
