/** The way to a server, tested while one looks: each step with what it found. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConnectionTestResultEvent, ConnectionTestStepEvent } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { failureOfFault } from '../data/failure.ts';
import { words } from '../data/words.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { Status } from '../ui/status.tsx';

interface TestProps {
  readonly serverId: string;
  /** Without being asked, where nothing has to be done on the server first. */
  readonly beginsItself?: boolean;
  readonly onResult?: (result: ConnectionTestResultEvent) => void;
}

export function ConnectionTest({ serverId, beginsItself = false, onResult }: TestProps) {
  const [steps, setSteps] = useState<readonly ConnectionTestStepEvent[]>([]);
  const [result, setResult] = useState<ConnectionTestResultEvent>();
  const ending = useRef<AbortController>(undefined);
  const test = useAction(async () => {
    ending.current?.abort();
    ending.current = new AbortController();
    setSteps([]);
    setResult(undefined);
    for await (const event of api.testConnection({ body: { serverId } }, { signal: ending.current.signal }))
      if (event.kind === 'step') setSteps((before) => [...before, event]);
      else if (event.kind === 'result') {
        setResult(event);
        onResult?.(event);
      }
  });
  useEffect(() => {
    if (beginsItself) void test.run();
    return () => ending.current?.abort();
  }, [serverId]);
  return (
    <section class="stack" aria-label="Connection test">
      <div class="row">
        <Button isBusy={test.isBusy} onPress={test.run}>
          Test the connection
        </Button>
        <span role="status">
          {result && (result.ok ? 'Everything is in order.' : 'It does not work yet.')}
        </span>
      </div>
      {steps.length > 0 && (
        <ol class="plain stack">
          {steps.map(({ step, status, message, hint }) => (
            <li key={step}>
              <Status status={status} text={words(step)} /> <span>{message}</span>
              {hint && <p class="hint">{hint}</p>}
            </li>
          ))}
        </ol>
      )}
      {result?.fault && <FailureNotice failure={failureOfFault(result.fault)} />}
      {test.failure && <FailureNotice failure={test.failure} />}
    </section>
  );
}
