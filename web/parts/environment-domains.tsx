/** The names that lead to an environment, and the certificates behind them. */
import { useState } from 'preact/hooks';
import type { ConnectedDomain } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { failureOfFault } from '../data/failure.ts';
import { useDomains } from '../data/lists.ts';
import { useResource } from '../data/resource.ts';
import { whyNot } from '../data/session.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Await, Empty } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { SelectField } from '../ui/field.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';
import type { TabProps } from './tab.ts';

export function EnvironmentDomains({ environment: { id } }: TabProps) {
  const [asked, ask] = useState<ConnectedDomain>();
  const domains = useDomains();
  const connected = useResource(
    `domains of ${id}`,
    (options) => api.listEnvironmentDomains({ id }, options),
    (event) =>
      event.kind === 'domain_updated' || (event.kind === 'project_updated' && event.reason === 'domain'),
  );
  const taken = new Set(connected.value?.items.map(({ domainId }) => domainId));
  const free = (domains.value ?? []).filter(
    (domain) => domain.status === 'verified' && !taken.has(domain.id),
  );
  const connect = useAction(async (domainId: string) => {
    await api.connectDomain({ id, body: { domainId } });
    await connected.reload();
  });
  return (
    <section class="stack" aria-label="Domains">
      <Await of={connected}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No name of your own leads here">
              <p>
                {free.length > 0
                  ? 'Choose one of your verified names below: it is routed here and gets a certificate.'
                  : 'First register a name and prove that it is yours, under Domains.'}
              </p>
              {free.length === 0 && <a href="/domains">Go to Domains</a>}
            </Empty>
          ) : (
            items.map((domain) => (
              <article class="card stack" key={domain.id} aria-label={domain.hostname}>
                <div class="section-head">
                  <h2>
                    <a href={domain.url} target="_blank" rel="noreferrer">
                      {domain.hostname}
                    </a>
                  </h2>
                  <Status
                    status={domain.certificate.status}
                    text={`certificate ${domain.certificate.status}`}
                  />
                </div>
                <p class="fine">
                  {domain.certificate.issuer && `Issued by ${domain.certificate.issuer}. `}
                  {domain.certificate.notAfter && (
                    <>
                      Ends <Time at={domain.certificate.notAfter} />, and is renewed a month before.
                    </>
                  )}
                </p>
                {domain.certificate.fault && (
                  <FailureNotice failure={failureOfFault(domain.certificate.fault)} />
                )}
                <div class="row row-end">
                  <Button kind="quiet" why={whyNot('change')} onPress={() => ask(domain)}>
                    Disconnect
                  </Button>
                </div>
              </article>
            ))
          )
        }
      </Await>
      {free.length > 0 && (
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault();
            void connect.run(fieldsOf(event.currentTarget).domain ?? '');
          }}
        >
          <SelectField
            label="Connect a name"
            name="domain"
            options={free.map(({ id: value, hostname }) => ({ value, text: hostname }))}
          />
          {connect.failure && <FailureNotice failure={connect.failure} />}
          <div class="row">
            <Button type="submit" kind="primary" isBusy={connect.isBusy} why={whyNot('change')}>
              Connect
            </Button>
          </div>
        </form>
      )}
      {asked && (
        <Confirm
          title={`Disconnect ${asked.hostname}?`}
          verb="Disconnect it"
          isDangerous
          onConfirm={async () => {
            await api.disconnectDomain({ id, domainId: asked.domainId });
            await connected.reload();
          }}
          onClose={() => ask(undefined)}
        >
          <p>
            Visitors of {asked.hostname} get no answer any more. The app runs on, and the name stays yours.
          </p>
        </Confirm>
      )}
    </section>
  );
}
