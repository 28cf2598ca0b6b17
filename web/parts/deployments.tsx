/** The deployments of an environment, newest first, and the one that is chosen: its steps and its log, live. */
import { useState } from 'preact/hooks';
import type { DeploymentSummary, Environment } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useDeployments } from '../data/lists.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Await, Empty } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { Status } from '../ui/status.tsx';
import { Elapsed, Time } from '../ui/time.tsx';
import { DeploymentView } from './deployment-view.tsx';
import { Rollback } from './rollback.tsx';
import type { TabProps } from './tab.ts';

export function Deployments({ environment, item }: TabProps) {
  const deployments = useDeployments(environment.id);
  const [older, setOlder] = useState<readonly DeploymentSummary[]>([]);
  const [cursor, setCursor] = useState<string | null>();
  const next = cursor === undefined ? deployments.value?.nextCursor : cursor;
  const more = useAction(async () => {
    if (!next) return;
    const page = await api.listDeployments({ id: environment.id, limit: 30, cursor: next });
    setOlder((before) => [...before, ...page.items]);
    setCursor(page.nextCursor);
  });
  return (
    <Await of={deployments} lines={6}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="Nothing has been deployed here">
            <p>
              {environment.serverId === null
                ? 'Choose a server under Settings first, then press Deploy.'
                : `Press Deploy: the newest commit of ${environment.branch} is built, proven and put live.`}
            </p>
          </Empty>
        ) : (
          <div class="split">
            <nav class="list" aria-label="Deployments">
              {[...items, ...older.filter(({ id }) => !items.some((each) => each.id === id))].map(
                (deployment) => (
                  <DeploymentLink
                    key={deployment.id}
                    deployment={deployment}
                    isChosen={deployment.id === (item ?? items[0]?.id)}
                    isLive={deployment.id === environment.currentDeploymentId}
                  />
                ),
              )}
              {more.failure && <FailureNotice failure={more.failure} />}
              {next && (
                <Button kind="quiet" isBusy={more.isBusy} onPress={more.run}>
                  Older
                </Button>
              )}
            </nav>
            <Chosen environment={environment} id={item ?? items[0]?.id ?? ''} />
          </div>
        )
      }
    </Await>
  );
}

interface LinkProps {
  readonly deployment: DeploymentSummary;
  readonly isChosen: boolean;
  readonly isLive: boolean;
}

function DeploymentLink({ deployment, isChosen, isLive }: LinkProps) {
  const { id, environmentId, number, status, commit, queuedAt, startedAt, finishedAt, trigger } = deployment;
  return (
    <a
      class="list-item"
      href={`/environments/${environmentId}/deployments/${id}`}
      aria-current={isChosen ? 'true' : undefined}
    >
      <span class="list-line">
        <strong>#{number}</strong>
        <Status status={status} />
        {isLive && <span class="tag">live</span>}
      </span>
      <span class="clip">
        {commit.message?.split('\n')[0] ?? (trigger === 'rollback' ? 'Rollback' : 'Waits for its commit')}
      </span>
      <span class="fine list-line">
        <Time at={queuedAt} />
        {startedAt && finishedAt && <Elapsed from={startedAt} to={finishedAt} />}
      </span>
    </a>
  );
}

function Chosen({ environment, id }: { readonly environment: Environment; readonly id: string }) {
  const [asked, ask] = useState<DeploymentSummary>();
  return (
    <div class="stack">
      <DeploymentView key={id} environment={environment} id={id} onRollback={ask} />
      {asked && <Rollback environment={environment} deployment={asked} onClose={() => ask(undefined)} />}
    </div>
  );
}
