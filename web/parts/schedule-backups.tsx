/** When backups are made, where they go, and how long they stay. */
import { useState } from 'preact/hooks';
import type { BackupConfig, BackupConfigChange } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { SelectField, TextField } from '../ui/field.tsx';

interface ScheduleProps {
  readonly id: string;
  readonly config: BackupConfig | null;
  readonly onStored: () => Promise<void>;
  readonly onClose: () => void;
}

type Fields = Readonly<Record<string, string>>;

function destinationOf(fields: Fields): BackupConfigChange['destination'] {
  if (fields.destination !== 's3') return { type: 'local' };
  const { endpoint = '', region = '', bucket = '', prefix, accessKeyId = '', secretAccessKey } = fields;
  return {
    type: 's3',
    endpoint,
    region,
    bucket,
    accessKeyId,
    ...(prefix && { prefix }),
    ...(secretAccessKey && { secretAccessKey }),
  };
}

export function ScheduleDialog({ id, config, onStored, onClose }: ScheduleProps) {
  const before = config?.destination;
  const [kind, setKind] = useState<string>(before?.type ?? 'local');
  const store = useAction(async (fields: Fields) => {
    await api.updateBackupConfig({
      id,
      body: {
        enabled: fields.enabled === 'on',
        cron: fields.cron ?? '',
        timezone: fields.timezone ?? '',
        retention: { keepLast: Number(fields.keepLast), keepDays: Number(fields.keepDays) },
        destination: destinationOf(fields),
        verify: fields.verify === 'on',
      },
    });
    await onStored();
  });
  const errors = store.failure?.fields ?? {};
  return (
    <Dialog title="Schedule of backups" onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (await store.run(fieldsOf(event.currentTarget))) onClose();
        }}
      >
        <label class="check">
          <input type="checkbox" name="enabled" defaultChecked={config?.enabled ?? true} />
          Make backups on this schedule
        </label>
        <TextField
          label="When, as cron"
          name="cron"
          value={config?.cron ?? '0 3 * * *'}
          hint="Minute, hour, day, month, weekday: 0 3 * * * is each night at three."
          error={errors.cron}
          isRequired
        />
        <TextField
          label="Time zone"
          name="timezone"
          value={config?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone}
          error={errors.timezone}
          isRequired
        />
        <div class="pairs">
          <TextField
            label="Keep at least, backups"
            name="keepLast"
            type="number"
            value={String(config?.retention.keepLast ?? 7)}
            error={errors['retention.keepLast']}
            isRequired
          />
          <TextField
            label="Keep at least, days"
            name="keepDays"
            type="number"
            value={String(config?.retention.keepDays ?? 30)}
            error={errors['retention.keepDays']}
            isRequired
          />
        </div>
        <SelectField
          label="Where they go"
          name="destination"
          value={kind}
          onChoice={setKind}
          options={[
            { value: 'local', text: 'the disk of this service' },
            { value: 's3', text: 'S3, or what speaks like it' },
          ]}
        />
        {kind === 's3' && <S3Fields before={before?.type === 's3' ? before : undefined} errors={errors} />}
        <label class="check">
          <input type="checkbox" name="verify" defaultChecked={config?.verify ?? true} />
          Restore each into a scratch container, and compare
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

const s3Fields = [
  ['endpoint', 'Endpoint', true],
  ['region', 'Region', true],
  ['bucket', 'Bucket', true],
  ['prefix', 'Prefix', false],
  ['accessKeyId', 'Access key', true],
] as const;

function S3Fields({
  before,
  errors,
}: {
  readonly before: Extract<BackupConfig['destination'], { readonly type: 's3' }> | undefined;
  readonly errors: Readonly<Record<string, string>>;
}) {
  return (
    <>
      {s3Fields.map(([name, label, isRequired]) => (
        <TextField
          key={name}
          label={label}
          name={name}
          value={before?.[name] ?? ''}
          error={errors[`destination.${name}`]}
          isRequired={isRequired}
        />
      ))}
      <TextField
        label="Secret key"
        name="secretAccessKey"
        type="password"
        hint={before ? 'Empty: the one of before.' : 'Sealed, and never shown again.'}
        error={errors['destination.secretAccessKey']}
        isRequired={before === undefined}
      />
    </>
  );
}
