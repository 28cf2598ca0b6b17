/** The backups of an environment: their proof, restoring one, and when the next is made. */
import { useState } from 'preact/hooks';
import type { Backup, BackupConfig } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useResource } from '../data/resource.ts';
import { whyNot } from '../data/session.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Await, Empty } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { saveFile } from '../ui/save-file.ts';
import { Time } from '../ui/time.tsx';
import { BackupRow, BackupTable } from './backup-row.tsx';
import { ImportDump } from './import-dump.tsx';
import type { TabProps } from './tab.ts';

export function EnvironmentBackups({ environment }: TabProps) {
  const { id, name, services } = environment;
  const [restoring, restore] = useState<Backup>();
  const [asked, ask] = useState<'schedule' | 'import'>();
  const backups = useResource(
    `backups ${id}`,
    (options) => api.listBackups({ id, limit: 50 }, options),
    (event) => event.kind === 'backup_updated' && event.environmentId === id,
  );
  const trigger = useAction(async () => {
    await api.triggerBackup({ id, body: {} });
    await backups.reload();
  });
  const download = useAction(async ({ id: bid, createdAt }: Backup) => {
    const answer = await api.downloadBackup({ id, bid });
    const told = /filename="?([^";]+)/.exec(answer.headers.get('content-disposition') ?? '')?.[1];
    saveFile(told ?? `${name}-${createdAt.slice(0, 10)}`, await answer.blob());
  });
  const config = backups.value?.config ?? null;
  return (
    <section class="stack" aria-label="Backups">
      <div class="section-head">
        <p class="hint">
          {config?.enabled ? (
            <>
              Made by <code>{config.cron}</code> ({config.timezone})
              {config.nextRunAt && (
                <>
                  , next <Time at={config.nextRunAt} />
                </>
              )}
              . Kept: the last {config.retention.keepLast} and those of {config.retention.keepDays} days.
            </>
          ) : (
            'No schedule: backups are made by hand only.'
          )}
        </p>
        <div class="row">
          <Button
            why={
              whyNot('change') ??
              (services.length === 0 ? 'There is no database here to import into.' : undefined)
            }
            onPress={() => ask('import')}
          >
            Import
          </Button>
          <Button why={whyNot('manage')} onPress={() => ask('schedule')}>
            Schedule
          </Button>
          <Button kind="primary" isBusy={trigger.isBusy} why={whyNot('change')} onPress={trigger.run}>
            Back up now
          </Button>
        </div>
      </div>
      {trigger.failure && <FailureNotice failure={trigger.failure} />}
      {download.failure && <FailureNotice failure={download.failure} />}
      <Await of={backups}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No backup yet">
              <p>
                One counts only after it was restored into a scratch database and checked. Press «Back up now»
                to see it.
              </p>
            </Empty>
          ) : (
            <BackupTable>
              {items.map((backup) => (
                <BackupRow key={backup.id} backup={backup}>
                  <Button
                    kind="quiet"
                    isBusy={download.isBusy}
                    why={
                      backup.status === 'succeeded'
                        ? whyNot('read_secrets')
                        : 'Only one that succeeded can be downloaded.'
                    }
                    onPress={() => download.run(backup)}
                  >
                    Download
                  </Button>
                  <Button
                    kind="quiet"
                    why={
                      backup.status === 'succeeded'
                        ? whyNot('change')
                        : 'Only one that succeeded can be restored.'
                    }
                    onPress={() => restore(backup)}
                  >
                    Restore
                  </Button>
                </BackupRow>
              ))}
            </BackupTable>
          )
        }
      </Await>
      {restoring && (
        <Confirm
          title="Restore this backup?"
          verb="Restore it"
          name={name}
          isDangerous
          onConfirm={async () => {
            await api.restoreBackup({ id, bid: restoring.id, body: {} });
            await backups.reload();
          }}
          onClose={() => restore(undefined)}
        >
          <p>
            The data of {restoring.parts.map(({ source }) => source.name).join(', ')} becomes what it was{' '}
            <Time at={restoring.createdAt} />. A backup of the present is made first, so this can be taken
            back.
          </p>
        </Confirm>
      )}
      {asked === 'schedule' && (
        <ScheduleDialog id={id} config={config} onClose={() => ask(undefined)} onStored={backups.reload} />
      )}
      {asked === 'import' && (
        <ImportDump environment={environment} onStarted={backups.reload} onClose={() => ask(undefined)} />
      )}
    </section>
  );
}

interface ScheduleProps {
  readonly id: string;
  readonly config: BackupConfig | null;
  readonly onStored: () => Promise<void>;
  readonly onClose: () => void;
}

function ScheduleDialog({ id, config, onStored, onClose }: ScheduleProps) {
  const store = useAction(async (fields: Readonly<Record<string, string>>) => {
    await api.updateBackupConfig({
      id,
      body: {
        enabled: fields.enabled === 'on',
        cron: fields.cron ?? '',
        timezone: fields.timezone ?? '',
        retention: { keepLast: Number(fields.keepLast), keepDays: Number(fields.keepDays) },
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
          Make backups by themselves
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
        <TextField
          label="Keep the last"
          name="keepLast"
          type="number"
          value={String(config?.retention.keepLast ?? 7)}
          error={errors['retention.keepLast']}
          isRequired
        />
        <TextField
          label="Keep those of the last days"
          name="keepDays"
          type="number"
          value={String(config?.retention.keepDays ?? 30)}
          error={errors['retention.keepDays']}
          isRequired
        />
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
