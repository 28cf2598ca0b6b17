/** Names of one's own: the record that proves each, what a look at the DNS showed, and what would mend it. */
import { useState } from 'preact/hooks';
import type { Domain } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useDomains } from '../data/lists.ts';
import { whyNot } from '../data/session.ts';
import { Findings } from '../parts/findings.tsx';
import { useTitle } from '../parts/title.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { CopyRow } from '../ui/copy.tsx';
import { Await, Empty } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';

export function Domains() {
  useTitle('Domains');
  const domains = useDomains();
  const [removing, remove] = useState<Domain>();
  const add = useAction(async (hostname: string) => {
    await api.registerDomain({ body: { hostname } });
    await domains.reload();
  });
  return (
    <>
      <header class="page-head">
        <h1>Domains</h1>
      </header>
      <form
        class="card row row-bottom"
        aria-label="Register a name"
        onSubmit={async (event) => {
          event.preventDefault();
          const form = event.currentTarget;
          if (await add.run(fieldsOf(form).hostname ?? '')) form.reset();
        }}
      >
        <div class="grow">
          <TextField
            label="Register a name"
            name="hostname"
            placeholder="shop.example.com"
            error={add.failure?.fields.hostname}
            isRequired
          />
        </div>
        <Button type="submit" kind="primary" isBusy={add.isBusy} why={whyNot('change')}>
          Register
        </Button>
      </form>
      {add.failure && <FailureNotice failure={add.failure} />}
      <Await of={domains}>
        {(list) =>
          list.length === 0 ? (
            <Empty title="No name yet">
              <p>
                Register one above. A TXT record then proves that it is yours, and it can lead to any
                environment, with a certificate.
              </p>
            </Empty>
          ) : (
            <div class="stack">
              {list.map((domain) => (
                <DomainCard
                  key={domain.id}
                  domain={domain}
                  onRemove={() => remove(domain)}
                  onChanged={domains.reload}
                />
              ))}
            </div>
          )
        }
      </Await>
      {removing && (
        <Confirm
          title={`Remove ${removing.hostname}?`}
          verb="Remove it"
          name={removing.hostname}
          isDangerous
          onConfirm={async () => {
            await api.deleteDomain({ id: removing.id });
            await domains.reload();
          }}
          onClose={() => remove(undefined)}
        >
          <p>
            It can be registered again, also by others who prove it. An environment that it leads to keeps
            this from happening.
          </p>
        </Confirm>
      )}
    </>
  );
}

interface CardProps {
  readonly domain: Domain;
  readonly onRemove: () => void;
  readonly onChanged: () => Promise<void>;
}

function DomainCard({ domain, onRemove, onChanged }: CardProps) {
  const { id, hostname, status, verification, lastCheck } = domain;
  const verify = useAction(async () => {
    await api.verifyDomain({ id });
    await onChanged();
  });
  return (
    <article class="card stack" aria-label={hostname}>
      <div class="section-head">
        <h2>
          {hostname} <Status status={status} />
        </h2>
        <div class="row">
          <Button isBusy={verify.isBusy} why={whyNot('change')} onPress={verify.run}>
            Look now
          </Button>
          <Button kind="quiet" why={whyNot('manage')} onPress={onRemove}>
            Remove
          </Button>
        </div>
      </div>
      {status !== 'verified' && (
        <div>
          <p class="hint">Set this record where the name is hosted:</p>
          <CopyRow label="Type" value={verification.type} />
          <CopyRow label="Name" value={verification.name} />
          <CopyRow label="Value" value={verification.value} />
        </div>
      )}
      {verify.failure && <FailureNotice failure={verify.failure} />}
      {lastCheck && (
        <>
          <p class="fine">
            Looked at <Time at={lastCheck.at} />
          </p>
          <Findings findings={lastCheck.findings} />
        </>
      )}
    </article>
  );
}
