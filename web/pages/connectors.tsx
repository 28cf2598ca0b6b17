/** Where notices go: chat, mail and webhooks, with what became of each message. */
import { useState } from 'preact/hooks';
import type { NotificationConnector } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useConnectors } from '../data/lists.ts';
import { useResource } from '../data/resource.ts';
import { whyNot } from '../data/session.ts';
import { words } from '../data/words.ts';
import { AddConnector } from '../parts/add-connector.tsx';
import { useAsked } from '../parts/asked.ts';
import { EditConnector } from '../parts/edit-connector.tsx';
import { toldOf } from '../parts/notice-choice.tsx';
import { useTitle } from '../parts/title.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Await, Empty } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { Status } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';

export function Connectors() {
  useTitle('Notifications');
  const [adding, add] = useAsked(['connector']);
  const connectors = useConnectors();
  return (
    <>
      <header class="page-head">
        <h1>Notifications</h1>
        <Button kind="primary" why={whyNot('manage')} onPress={() => add('connector')}>
          Add a connector
        </Button>
      </header>
      <Await of={connectors}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nobody is told yet">
              <p>
                A connector sends what matters (a failed deployment, a lost server, a backup that did not
                prove itself) to Slack, Discord, Telegram, Teams, mail or a webhook.
              </p>
            </Empty>
          ) : (
            <div class="columns cards">
              {items.map((connector) => (
                <ConnectorCard key={connector.id} connector={connector} onChanged={connectors.reload} />
              ))}
            </div>
          )
        }
      </Await>
      {adding && (
        <Dialog title="Add a connector" onClose={() => add(undefined)}>
          <AddConnector onAdded={connectors.reload} onClose={() => add(undefined)} />
        </Dialog>
      )}
    </>
  );
}

interface CardProps {
  readonly connector: NotificationConnector;
  readonly onChanged: () => Promise<void>;
}

const consents = { member: 'active', confirmed: 'active', pending: 'queued', declined: 'declined' } as const;

function ConnectorCard({ connector, onChanged }: CardProps) {
  const { id, name, type, target, enabled, disabledReason, events, lastDelivery, failingSince, recipients } =
    connector;
  const [asked, ask] = useState<'remove' | 'deliveries' | 'change'>();
  const [said, say] = useState('');
  const test = useAction(async () => {
    const { delivered, detail } = await api.testNotificationConnector({ id });
    say(delivered ? 'A test message has arrived there.' : detail);
  });
  const turn = useAction(async () => {
    await api.updateNotificationConnector({ id, body: { enabled: !enabled } });
    await onChanged();
  });
  const failure = test.failure ?? turn.failure;
  return (
    <article class="card stack" aria-label={name}>
      <div class="section-head">
        <h2>
          {name} <span class="fine">{type}</span>
        </h2>
        <Status
          status={enabled ? (failingSince ? 'failed' : 'active') : 'stopped'}
          text={enabled ? (failingSince ? 'failing' : 'on') : 'off'}
        />
      </div>
      {recipients.length === 0 && <p class="fine clip">{target}</p>}
      <p class="fine">
        Tells of {toldOf(events)};{' '}
        {connector.allProjects ? 'of every project' : 'of the projects that choose it'}.
      </p>
      {recipients.length > 0 && (
        <ul class="plain">
          {recipients.map((recipient) => (
            <li key={recipient.address} class="fine">
              <Status status={consents[recipient.status]} text={recipient.address} />{' '}
              {words(recipient.status)}
            </li>
          ))}
        </ul>
      )}
      {disabledReason && <p class="notice notice-warn">{disabledReason}</p>}
      {lastDelivery && (
        <p class="fine">
          Last: {words(lastDelivery.event)}, {lastDelivery.status} <Time at={lastDelivery.at} />
        </p>
      )}
      {failure && <FailureNotice failure={failure} />}
      <div class="row row-end">
        <span role="status">{said}</span>
        <Button kind="quiet" isBusy={test.isBusy} why={whyNot('change')} onPress={test.run}>
          Send a test
        </Button>
        <Button kind="quiet" onPress={() => ask('deliveries')}>
          Deliveries
        </Button>
        <Button kind="quiet" why={whyNot('manage')} onPress={() => ask('change')}>
          Change
        </Button>
        <Button kind="quiet" isBusy={turn.isBusy} why={whyNot('manage')} onPress={turn.run}>
          {enabled ? 'Switch off' : 'Switch on'}
        </Button>
        <Button kind="quiet" why={whyNot('manage')} onPress={() => ask('remove')}>
          Remove
        </Button>
      </div>
      {asked === 'change' && (
        <EditConnector connector={connector} onStored={onChanged} onClose={() => ask(undefined)} />
      )}
      {asked === 'deliveries' && <Deliveries connector={connector} onClose={() => ask(undefined)} />}
      {asked === 'remove' && (
        <Confirm
          title={`Remove ${name}?`}
          verb="Remove it"
          name={name}
          isDangerous
          onConfirm={async () => {
            await api.deleteNotificationConnector({ id });
            await onChanged();
          }}
          onClose={() => ask(undefined)}
        >
          <p>Nothing is sent there any more, and what it sent is forgotten.</p>
        </Confirm>
      )}
    </article>
  );
}

function Deliveries({
  connector: { id, name },
  onClose,
}: {
  readonly connector: NotificationConnector;
  readonly onClose: () => void;
}) {
  const deliveries = useResource(
    `deliveries ${id}`,
    (options) => api.listNotificationDeliveries({ id, limit: 50 }, options),
    ({ kind }) => kind === 'connector_updated',
  );
  return (
    <Dialog title={`Deliveries of ${name}`} onClose={onClose} isWide>
      <Await of={deliveries}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="hint">None yet.</p>
          ) : (
            <Table label="Messages" heads={['When', 'What', 'State', 'Tries', 'Answer']}>
              {items.map((delivery) => (
                <tr key={delivery.id}>
                  <td class="fine">
                    <Time at={delivery.createdAt} />
                  </td>
                  <td>{words(delivery.event)}</td>
                  <td>
                    <Status status={delivery.status} />
                  </td>
                  <td class="fine">{delivery.attempts}</td>
                  <td class="fine">
                    {[
                      delivery.answerStatus,
                      delivery.latencyMs !== null && `${delivery.latencyMs} ms`,
                      delivery.detail,
                    ]
                      .filter(Boolean)
                      .join(', ')}
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Await>
      <div class="row row-end">
        <Button onPress={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
