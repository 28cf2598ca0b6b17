import { useState } from 'preact/hooks';
import type { Backup, Environment } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { Confirm } from '../ui/confirm.tsx';
import { SelectField } from '../ui/field.tsx';
import { Time } from '../ui/time.tsx';

interface RestoreProps {
  readonly environment: Environment;
  readonly backup: Backup;
  readonly onClose: () => void;
}

/** All of a backup, or one database out of it. */
export function Restore({ environment: { id, name }, backup, onClose }: RestoreProps) {
  const [serviceId, choose] = useState('');
  const services = backup.parts.flatMap(({ source }) =>
    source.serviceId ? [{ value: source.serviceId, text: `${source.name} alone` }] : [],
  );
  const names = backup.parts.map(({ source }) => source.name).join(', ');
  return (
    <Confirm
      title="Restore this backup?"
      verb="Restore it"
      name={name}
      isDangerous
      onConfirm={() => api.restoreBackup({ id, bid: backup.id, body: { ...(serviceId && { serviceId }) } })}
      onClose={onClose}
    >
      <p>
        The data of {services.find(({ value }) => value === serviceId)?.text ?? (names || name)} becomes what
        it was <Time at={backup.createdAt} />. A backup of the present is made first, so this can be taken
        back.
      </p>
      <p>
        The copy is loaded and proven beside the data that serves; visitors get 503 only while the two change
        places. Where anything fails, the old data serves on.
      </p>
      {backup.parts.length > 1 && services.length > 0 && (
        <SelectField
          label="What"
          name="service"
          value={serviceId}
          onChoice={choose}
          options={[{ value: '', text: 'all of it' }, ...services]}
        />
      )}
    </Confirm>
  );
}
