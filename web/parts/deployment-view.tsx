/** One deployment: where it is, what went wrong, and its log while it is written. */
import { useEffect, useMemo } from 'preact/hooks';
import type { Deployment, DeploymentSummary, Environment } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { failureOfFault } from '../data/failure.ts';
import { useDeployment } from '../data/lists.ts';
import { Log } from '../data/log.ts';
import { signedIn, whyNot } from '../data/session.ts';
import { duration, words } from '../data/words.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { Status } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { Elapsed, Time, watchSeconds } from '../ui/time.tsx';
import { LogView } from './log-view.tsx';
import { whyNoRollback } from './rollback.tsx';

interface ViewProps {
  readonly environment: Environment;
  readonly id: string;
  readonly onRollback: (deployment: DeploymentSummary) => void;
}

export function DeploymentView({ environment, id, onRollback }: ViewProps) {
  const deployment = useDeployment(environment.id, id);
  const log = useDeploymentLog(environment.id, id, deployment.reload);
  return (
    <Await of={deployment} lines={12}>
      {(value) => (
        <article class="stack" aria-label={`Deployment ${value.number}`}>
          <Head deployment={value} environment={environment} onRollback={onRollback} />
          {value.fault && (
            <FailureNotice
              title={value.fault.step ? `It failed at: ${words(value.fault.step)}` : 'It failed'}
              failure={failureOfFault(value.fault)}
            />
          )}
          <Steps deployment={value} />
          <Probes probes={value.probes} />
          <LogView
            log={log}
            name={`deployment-${value.number}`}
            failedSource={value.fault?.step ?? undefined}
            waiting={
              value.finishedAt === null ? 'Its first lines come in a moment.' : 'It ended without a line.'
            }
          />
        </article>
      )}
    </Await>
  );
}

function Head({
  deployment,
  environment,
  onRollback,
}: Omit<ViewProps, 'id'> & { readonly deployment: DeploymentSummary }) {
  const { id, number, status, commit, trigger, requestedBy, queuedAt, finishedAt } = deployment;
  const cancel = useAction(() => api.cancelDeployment({ id: environment.id, did: id }));
  return (
    <>
      <header class="card deployment-head">
        <div class="clip">
          <h2>
            #{number} <Status status={status} />
          </h2>
          <p class="clip">{commit.message?.split('\n')[0] ?? 'Its commit is looked up when it begins.'}</p>
          <p class="fine clip">
            {commit.sha && <code>{commit.sha.slice(0, 8)}</code>} {commit.author && `by ${commit.author}, `}
            {words(trigger)}
            {requestedBy === signedIn.value?.user.id && ' by you'}, <Time at={queuedAt} />
          </p>
        </div>
        <div class="row">
          {finishedAt === null ? (
            <Button kind="danger" isBusy={cancel.isBusy} why={whyNot('deploy')} onPress={cancel.run}>
              Cancel
            </Button>
          ) : (
            <Button why={whyNoRollback(deployment, environment)} onPress={() => onRollback(deployment)}>
              Go back to this
            </Button>
          )}
        </div>
      </header>
      {cancel.failure && <FailureNotice failure={cancel.failure} />}
    </>
  );
}

function Steps({ deployment }: { readonly deployment: DeploymentSummary }) {
  const { steps, finishedAt, status } = deployment;
  const isRunning = finishedAt === null;
  useEffect(() => (isRunning ? watchSeconds() : undefined), [isRunning]);
  if (steps.length === 0)
    return (
      <p class="hint">{status === 'queued' ? 'It waits for its turn.' : 'It ended before its first step.'}</p>
    );
  return (
    <ol class="steps" aria-label="Steps">
      {steps.map((step) => (
        <li key={step.name} class={`step step-${step.status}`}>
          <Status status={step.status === 'running' ? 'deploying' : step.status} text={words(step.name)} />
          <span class="sr-only">{step.status}</span>
          <Elapsed from={step.startedAt} to={step.finishedAt ?? finishedAt} />
        </li>
      ))}
    </ol>
  );
}

/** What the release answered before it was let go live, or why it was not. */
function Probes({ probes }: Pick<Deployment, 'probes'>) {
  if (probes.length === 0) return null;
  return (
    <details>
      <summary>Health checks and their answers</summary>
      <Table label="Health checks" heads={['After', 'Container', 'Outcome', 'Answer']}>
        {probes.map(({ container, atMs, outcome, status, body, problem, repeated }) => (
          <tr key={`${container} ${atMs}`}>
            <td class="fine">{duration(atMs)}</td>
            <td class="fine">{container}</td>
            <td>
              {[status, words(outcome), repeated > 0 && `and ${repeated} more like it`]
                .filter(Boolean)
                .join(', ')}
            </td>
            <td>
              <code class="value">{problem ?? body}</code>
            </td>
          </tr>
        ))}
      </Table>
    </details>
  );
}

/** From its first line on, and with each change of state a look at the deployment itself. */
function useDeploymentLog(environmentId: string, id: string, reload: () => Promise<void>): Log {
  // Another deployment is another log.
  const log = useMemo(() => new Log(), [id]);
  // One stream for each deployment, whatever is loaded anew.
  useEffect(() => {
    const ending = new AbortController();
    const read = async () => {
      const events = api.followDeployment({ id: environmentId, did: id }, { signal: ending.signal });
      for await (const event of events)
        if (event.kind === 'log') await log.add({ source: event.step, text: event.line });
        else if (event.kind === 'status' || event.kind === 'end') void reload();
        else if (event.kind === 'reset') await log.add({ source: '', text: event.reason });
    };
    read().catch((error: unknown) => {
      if (!ending.signal.aborted) void log.add({ source: '', text: String(error) });
    });
    return () => ending.abort();
  }, [id]);
  return log;
}
