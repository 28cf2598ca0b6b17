/** What the app writes while it runs, and in which state its containers are. One stream, only while one looks. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Container, LogProblemEvent } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { type Failure, failureOf } from '../data/failure.ts';
import { useServers } from '../data/lists.ts';
import { Log } from '../data/log.ts';
import { inPages } from '../data/page-words.ts';
import { bytes } from '../data/words.ts';
import { FailureNotice } from '../ui/failure.tsx';
import { Status } from '../ui/status.tsx';
import { LogView } from './log-view.tsx';
import type { TabProps } from './tab.ts';

export function LiveLogs({ environment: { id, name, placement } }: TabProps) {
  const { log, containers, problem, failure } = useLiveLogs(id);
  const servers = useServers().value ?? [];
  const isOnCluster = placement !== null && 'clusterId' in placement;
  const where = ({ serverId }: Container) =>
    isOnCluster && servers.find((server) => server.id === serverId)?.name;
  return (
    <section class="stack" aria-label="Live logs">
      {failure && <FailureNotice failure={failure} />}
      {problem && (
        <p class="notice notice-warn">
          {problem.message} {problem.hint && <span class="hint">{inPages(problem.hint)}</span>}
        </p>
      )}
      {containers.length > 0 && (
        <ul class="steps" aria-label="Containers">
          {containers.map((container) => (
            <li class="step" key={container.name}>
              <Status
                status={container.state}
                text={`${container.process} ${container.replica}: ${container.state}`}
              />
              <span class="fine">{where(container)}</span>
              <span class="fine">{container.memoryBytes !== null && bytes(container.memoryBytes)}</span>
            </li>
          ))}
        </ul>
      )}
      <LogView
        log={log}
        name={name}
        failedSource={undefined}
        waiting="What the app writes from now on appears here."
      />
    </section>
  );
}

interface Live {
  readonly log: Log;
  readonly containers: readonly Container[];
  readonly problem: LogProblemEvent | undefined;
  readonly failure: Failure | undefined;
}

function useLiveLogs(id: string): Live {
  // Another environment is another log.
  const log = useMemo(() => new Log(), [id]);
  const [containers, setContainers] = useState<readonly Container[]>([]);
  const [problem, setProblem] = useState<LogProblemEvent>();
  const [failure, setFailure] = useState<Failure>();
  useEffect(() => {
    const ending = new AbortController();
    const read = async () => {
      for await (const event of api.followLogs({ id }, { signal: ending.signal }))
        if (event.kind === 'line') await log.add({ source: event.process, text: event.line });
        else if (event.kind === 'state') setContainers(event.containers);
        else if (event.kind === 'problem') setProblem(event);
    };
    read().catch((error: unknown) => {
      if (!ending.signal.aborted) setFailure(failureOf(error));
    });
    return () => ending.abort();
  }, [id, log]);
  return { log, containers, problem, failure };
}
