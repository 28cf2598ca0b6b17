/** Whether pushes are heard of, and what became of each: why one did not deploy is the question people have. */
import { api } from '../data/api.ts';
import { failureOfFault } from '../data/failure.ts';
import { useResource } from '../data/resource.ts';
import { whyNot } from '../data/session.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { CopyRow } from '../ui/copy.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';

const tones = { deployed: 'succeeded', ignored: 'idle', rejected: 'failed' } as const;

export function Pushes({ projectId: id }: { readonly projectId: string }) {
  const deliveries = useResource(
    `pushes ${id}`,
    (options) => api.listWebhookDeliveries({ id, limit: 20 }, options),
    (event) => event.kind === 'project_updated' && event.projectId === id,
  );
  const install = useAction(async () => {
    const { problem, address, secret } = await api.installWebhook({ id });
    return { problem, address, secret };
  });
  return (
    <section class="card stack" aria-label="Pushes">
      <div class="section-head">
        <h2>Pushes</h2>
        <Button isBusy={install.isBusy} why={whyNot('manage')} onPress={install.run}>
          Set up the webhook
        </Button>
      </div>
      {install.failure && <FailureNotice failure={install.failure} />}
      {install.result?.problem && <FailureNotice failure={failureOfFault(install.result.problem)} />}
      {install.result?.secret && (
        <div>
          <p class="hint">Set this up at the host of the repository. The secret is shown once:</p>
          <CopyRow label="Address" value={install.result.address} />
          <CopyRow label="Secret" value={install.result.secret} />
        </div>
      )}
      <Await of={deliveries}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="hint">
              None was heard of yet. «Deploy each push» in the settings of an environment sets up the webhook
              by itself.
            </p>
          ) : (
            <ul class="plain stack">
              {items.map(({ id: delivery, outcome, branch, message, receivedAt }) => (
                <li key={delivery}>
                  <Status status={tones[outcome]} text={branch ?? outcome} />{' '}
                  <span class="fine">
                    {message} <Time at={receivedAt} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Await>
    </section>
  );
}
