/** All backups of the workspace, newest first, each with its proof. */
import { api } from '../data/api.ts';
import { useResource } from '../data/resource.ts';
import { bytes } from '../data/words.ts';
import { BackupRow, BackupTable } from '../parts/backup-row.tsx';
import { useTitle } from '../parts/title.ts';
import { Await, Empty } from '../ui/empty.tsx';

export function Backups() {
  useTitle('Backups');
  const backups = useResource(
    'backups',
    (options) => api.listAllBackups({ limit: 100 }, options),
    ({ kind }) => kind === 'backup_updated',
  );
  return (
    <>
      <header class="page-head">
        <h1>Backups</h1>
        {backups.value && (
          <p class="hint">
            {backups.value.storage.count} kept, {bytes(backups.value.storage.usedBytes)}
          </p>
        )}
      </header>
      <Await of={backups}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No backup yet">
              <p>
                Backups are made of the databases and volumes of an environment: open one, go to its Backups,
                and make the first or set a schedule. Each is restored into a scratch database and checked
                before it counts.
              </p>
              <a href="/">Choose an environment</a>
            </Empty>
          ) : (
            <BackupTable last="Environment">
              {items.map((backup) => (
                <BackupRow key={backup.id} backup={backup}>
                  <a href={`/environments/${backup.environmentId}/backups`}>{backup.environmentName}</a>
                </BackupRow>
              ))}
            </BackupTable>
          )
        }
      </Await>
    </>
  );
}
