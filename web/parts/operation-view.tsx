/** Long work while it is done: its steps, how far it is, and why it ended as it did. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Operation, StepProgressEvent } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { failureOfFault } from '../data/failure.ts';
import { useOperation } from '../data/lists.ts';
import { whyNot } from '../data/session.ts';
import { words, work } from '../data/words.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { Status } from '../ui/status.tsx';
import { Elapsed, Time, watchSeconds } from '../ui/time.tsx';

interface ViewProps {
  readonly id: string;
  /** What can be done with it once it is over. */
  readonly children?: (operation: Operation) => ComponentChildren;
}

export function OperationView({ id, children }: ViewProps) {
  const operation = useOperation(id);
  const { progress, line } = useSteps(id, operation.value, operation.reload);
  const cancel = useAction(() => api.cancelOperation({ id }));
  return (
    <Await of={operation} lines={2}>
      {(value) => (
        <section class="card stack" aria-label={work(value.kind)}>
          <div class="section-head">
            <h2>
              {work(value.kind)}{' '}
              <Status
                status={value.status === 'running' ? 'deploying' : value.status}
                text={words(value.status)}
              />
            </h2>
            <div class="row">
              <span class="fine">
                <Time at={value.finishedAt ?? value.createdAt} />
              </span>
              {value.finishedAt === null && (
                <Button
                  isBusy={cancel.isBusy}
                  why={value.status === 'cancelling' ? 'It is being undone.' : whyNot('change')}
                  onPress={cancel.run}
                >
                  Cancel
                </Button>
              )}
              {children?.(value)}
            </div>
          </div>
          {cancel.failure && <FailureNotice failure={cancel.failure} />}
          {value.finishedAt === null && (
            <div class="progress">
              <progress
                aria-label="How far it is"
                value={progress?.fraction ?? value.progress?.fraction ?? 0}
              />
              <p class="fine clip" role="status">
                {progress?.text ?? value.progress?.text ?? line ?? 'It waits for its turn.'}
              </p>
            </div>
          )}
          {value.fault && <FailureNotice failure={failureOfFault(value.fault)} />}
          {value.steps && value.steps.length > 0 && (
            <ol class="steps" aria-label="Steps">
              {value.steps.map((step) => (
                <li key={step.name} class="step">
                  <Status
                    status={step.status === 'running' ? 'deploying' : step.status}
                    text={words(step.name)}
                  />
                  <span class="sr-only">{step.status}</span>
                  <Elapsed from={step.startedAt} to={step.finishedAt ?? value.finishedAt} />
                </li>
              ))}
            </ol>
          )}
        </section>
      )}
    </Await>
  );
}

/** One stream, only while it runs and one looks. */
function useSteps(id: string, operation: Operation | undefined, reload: () => Promise<void>) {
  const [progress, setProgress] = useState<StepProgressEvent>();
  const [line, setLine] = useState<string>();
  const isRunning = operation !== undefined && operation.finishedAt === null;
  useEffect(() => {
    if (!isRunning) return undefined;
    const still = watchSeconds();
    const ending = new AbortController();
    const read = async () => {
      for await (const event of api.followOperation({ id }, { signal: ending.signal }))
        if (event.kind === 'progress') setProgress(event);
        else if (event.kind === 'log') setLine(event.line);
        else void reload();
    };
    // Where it breaks off, the events of the workspace tell its end too.
    read().catch(() => undefined);
    return () => {
      still();
      ending.abort();
    };
  }, [id, isRunning]);
  return { progress, line };
}
