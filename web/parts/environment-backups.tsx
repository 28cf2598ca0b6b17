/** The backups of an environment: their proof, restoring one, and when the next is made. */
import { useState } from 'preact/hooks';
import type { Backup } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useOperations } from '../data/lists.ts';
import { useResource } from '../data/resource.ts';
import { whyNot } from '../data/session.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Await, Empty } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { saveFile } from '../ui/save-file.ts';
import { Time } from '../ui/time.tsx';
import { useAsked } from './asked.ts';
import { BackupRow, BackupTable } from './backup-row.tsx';
import { ImportDump } from './import-dump.tsx';
import { OperationView } from './operation-view.tsx';
import { Restore } from './restore.tsx';
import { ScheduleDialog } from './schedule-backups.tsx';
import type { TabProps } from './tab.ts';

const moves = ['backup_restore', 'backup_import'];

export function EnvironmentBackups({ environment }: TabProps) {
  const { id, name, services } = environment;
  const [asking, askAbout] = useState<{ readonly what: 'restore' | 'delete'; readonly backup: Backup }>();
  const [asked, ask] = useAsked(['schedule', 'import', 'backup']);
  const backups = useResource(
    `backups ${id}`,
    (options) => api.listBackups({ id, limit: 50 }, options),
    (event) => event.kind === 'backup_updated' && event.environmentId === id,
  );
  const trigger = useAction(async () => {
    await api.triggerBackup({ id, body: {} });
    await backups.reload();
  });
  /** One file for each part. */
  const download = useAction(async ({ id: bid, createdAt, parts }: Backup) => {
    for (const { id: partId, source } of parts) {
      const answer = await api.downloadBackup({ id, bid, partId });
      const told = /filename="?([^";]+)/.exec(answer.headers.get('content-disposition') ?? '')?.[1];
      saveFile(told ?? `${name}-${source.name}-${createdAt.slice(0, 10)}`, await answer.blob());
    }
  });
  const { items = [], config = null } = backups.value ?? {};
  // A restore or an import, while it runs and for as long as it is the newest thing that failed.
  const moving = useOperations().value?.find(
    ({ kind, subject }) => moves.includes(kind) && subject?.id === id,
  );
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
              . Kept: at least {config.retention.keepLast}, and all of the last {config.retention.keepDays}{' '}
              days.
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
      {moving && <OperationView key={moving.id} id={moving.id} />}
      <Await of={backups}>
        {() =>
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
                    onPress={() => askAbout({ what: 'restore', backup })}
                  >
                    Restore
                  </Button>
                  <Button
                    kind="quiet"
                    why={backup.finishedAt ? whyNot('manage') : 'It is being made.'}
                    onPress={() => askAbout({ what: 'delete', backup })}
                  >
                    Delete
                  </Button>
                </BackupRow>
              ))}
            </BackupTable>
          )
        }
      </Await>
      {asking?.what === 'restore' && (
        <Restore environment={environment} backup={asking.backup} onClose={() => askAbout(undefined)} />
      )}
      {asking?.what === 'delete' && (
        <Confirm
          title="Delete this backup?"
          verb="Delete it"
          name={name}
          isDangerous
          onConfirm={async () => {
            const isLastGood = items.filter(({ status }) => status === 'succeeded').length === 1;
            await api.deleteBackup({ id, bid: asking.backup.id, ...(isLastGood && { force: true }) });
            await backups.reload();
          }}
          onClose={() => askAbout(undefined)}
        >
          <p>
            What was stored <Time at={asking.backup.createdAt} /> is removed from its destination, and cannot
            be restored any more.
          </p>
        </Confirm>
      )}
      {asked === 'backup' && (
        <Confirm
          title={`Back ${name} up now?`}
          verb="Back it up"
          onConfirm={trigger.run}
          onClose={() => ask(undefined)}
        >
          <p>Its databases and volumes are stored, restored into scratch containers and checked.</p>
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
