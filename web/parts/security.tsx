/** How safe a server is, check by check with what shows it, and the hardening as a plan before anything is changed. */
import { useState } from 'preact/hooks';
import type { HardeningPlan } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { inPages } from '../data/page-words.ts';
import { useResource } from '../data/resource.ts';
import { whyNot } from '../data/session.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';
import { HardeningPlanDialog } from './hardening-plan.tsx';

export function Security({
  serverId: id,
  isReady,
}: {
  readonly serverId: string;
  readonly isReady: boolean;
}) {
  const [plan, setPlan] = useState<HardeningPlan>();
  const security = useResource(
    `security ${id}`,
    (options) => api.getServerSecurity({ id }, options),
    (event) => event.kind === 'server_updated' && event.serverId === id,
  );
  const refresh = useAction(async () => security.set(await api.getServerSecurity({ id, refresh: true })));
  const planning = useAction(async () => {
    const answer = await api.hardenServer({ id, body: { dryRun: true } });
    if ('fingerprint' in answer) setPlan(answer);
  });
  const why = isReady ? undefined : 'The server cannot be reached now.';
  return (
    <section class="card stack" aria-label="Security">
      <div class="section-head">
        <h2>
          Security{' '}
          {security.value && (
            <Status
              status={security.value.state}
              text={security.value.score === null ? 'not checked' : `${security.value.score} of 100`}
            />
          )}
        </h2>
        <div class="row">
          <Button isBusy={refresh.isBusy} why={why} onPress={refresh.run}>
            Look now
          </Button>
          <Button isBusy={planning.isBusy} why={whyNot('manage') ?? why} onPress={planning.run}>
            Plan the hardening
          </Button>
        </div>
      </div>
      {refresh.failure && <FailureNotice failure={refresh.failure} />}
      {planning.failure && <FailureNotice failure={planning.failure} />}
      <Await of={security}>
        {({ checks, checkedAt }) => (
          <>
            <p class="fine">
              {checkedAt ? (
                <>
                  Looked at <Time at={checkedAt} />
                </>
              ) : (
                'It has not been looked at yet.'
              )}
            </p>
            <ul class="plain checks">
              {checks.map(({ id: check, title, status, evidence, fix }) => (
                <li key={check}>
                  <details>
                    <summary>
                      <Status status={status} text={title} />
                    </summary>
                    <p class="hint">{inPages(fix)}</p>
                    {evidence && <pre class="evidence">{evidence}</pre>}
                  </details>
                </li>
              ))}
            </ul>
          </>
        )}
      </Await>
      {plan && <HardeningPlanDialog id={id} plan={plan} onClose={() => setPlan(undefined)} />}
    </section>
  );
}
