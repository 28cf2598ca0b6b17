/** The deployments of an environment, newest first, and the one that is chosen: its steps and its log, live. */
import { useState } from 'preact/hooks';
import type { DeploymentSummary, Environment } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useDeployments } from '../data/lists.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Await, Empty } from '../ui/empty.tsx';
import { Status } from '../ui/status.tsx';
import { Elapsed, Time } from '../ui/time.tsx';
import { DeploymentView } from './deployment-view.tsx';
import type { TabProps } from './tab.ts';

export function Deployments({ environment, item }: TabProps) {
  const deployments = useDeployments(environment.id);
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
              {items.map((deployment) => (
                <DeploymentLink
                  key={deployment.id}
                  deployment={deployment}
                  isChosen={deployment.id === (item ?? items[0]?.id)}
                  isLive={deployment.id === environment.currentDeploymentId}
                />
              ))}
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
      {asked && (
        <Confirm
          title={`Go back to #${asked.number}?`}
          verb={`Go back to #${asked.number}`}
          onConfirm={() => api.rollBackDeployment({ id: environment.id, did: asked.id, body: {} })}
          onClose={() => ask(undefined)}
        >
          <p>
            The release of #{asked.number} ({asked.commit.message?.split('\n')[0] ?? 'its commit'}) is started
            again as it was, with the variables of then. Nothing is built. What is live now keeps serving
            until the old release is healthy.
          </p>
          <p class="hint">The data of its services stays as it is now.</p>
        </Confirm>
      )}
    </div>
  );
}
