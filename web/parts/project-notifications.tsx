/** Which connectors tell of a project, and of what. */
import { useEffect, useState } from 'preact/hooks';
import type { NotificationConnector, ProjectNotificationLinks } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useConnectors } from '../data/lists.ts';
import { useResource } from '../data/resource.ts';
import { whyNot } from '../data/session.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { chosenNotices, NoticeChoice } from './notice-choice.tsx';

export function ProjectNotifications({ projectId }: { readonly projectId: string }) {
  const connectors = useConnectors();
  const links = useResource(
    `notifications of ${projectId}`,
    (options) => api.getProjectNotifications({ projectId }, options),
    ({ kind }) => kind === 'connector_updated',
  );
  return (
    <section class="card stack" aria-label="Notifications">
      <h2>Notifications</h2>
      {connectors.failure?.code === 'forbidden' ? (
        // Connectors are of the whole workspace, which not everyone who may see the project reaches.
        <p class="hint">{connectors.failure.message}</p>
      ) : (
        <Await of={connectors}>
          {({ items }) =>
            items.length === 0 ? (
              <p class="hint">
                Nobody is told yet. <a href="/connectors?ask=connector">Add a connector</a>, and choose here
                whether it tells of this project.
              </p>
            ) : (
              <Await of={links}>
                {(value) => (
                  <Links projectId={projectId} connectors={items} links={value} onStored={links.set} />
                )}
              </Await>
            )
          }
        </Await>
      )}
    </section>
  );
}

interface LinksProps {
  readonly projectId: string;
  readonly connectors: readonly NotificationConnector[];
  readonly links: ProjectNotificationLinks;
  readonly onStored: (links: ProjectNotificationLinks) => void;
}

function Links({ projectId, connectors, links, onStored }: LinksProps) {
  const { connectorIds, events } = links;
  const [isOwn, setOwn] = useState(events !== null);
  // Another browser may have stored something else.
  useEffect(() => setOwn(events !== null), [events]);
  const store = useAction(async (fields: Readonly<Record<string, string>>) => {
    const chosen = connectors
      // Those of every project have no field of their own here, and keep the link that they may have.
      .filter(({ id, allProjects }) => (allProjects ? connectorIds.includes(id) : fields[id] === 'on'))
      .map(({ id }) => id);
    const body = { connectorIds: chosen, events: isOwn ? chosenNotices(fields) : null };
    onStored(await api.linkNotificationConnectors({ projectId, body }));
    return true;
  });
  return (
    <form
      class="stack"
      aria-label="Who is told"
      onSubmit={(event) => {
        event.preventDefault();
        void store.run(fieldsOf(event.currentTarget));
      }}
    >
      <div class="checks">
        {connectors.map(({ id, name, type, allProjects, enabled }) => (
          <label class="check" key={id}>
            <input
              type="checkbox"
              name={id}
              defaultChecked={allProjects || connectorIds.includes(id)}
              disabled={allProjects}
            />
            <span>
              {name}{' '}
              <span class="fine">
                {[type, allProjects && 'tells of every project', !enabled && 'switched off']
                  .filter(Boolean)
                  .join(', ')}
              </span>
            </span>
          </label>
        ))}
      </div>
      <label class="check">
        <input type="checkbox" checked={isOwn} onChange={(event) => setOwn(event.currentTarget.checked)} />
        Of this project they tell other things than elsewhere
      </label>
      {isOwn && <NoticeChoice chosen={events ?? ['deployment_failed', 'environment_degraded']} isOfProject />}
      {store.failure && <FailureNotice failure={store.failure} />}
      <div class="row">
        <Button type="submit" isBusy={store.isBusy} why={whyNot('change')}>
          Save
        </Button>
        <span role="status">{store.result === undefined ? '' : 'Saved.'}</span>
      </div>
    </form>
  );
}
