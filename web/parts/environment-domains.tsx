/** The names that lead to an environment: the records that they need, what a look at the DNS showed, and their certificates. */
import { useState } from 'preact/hooks';
import type { ConnectedDomain, DomainFinding, Environment } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { failureOfFault } from '../data/failure.ts';
import { useDomains, useServers } from '../data/lists.ts';
import { useResource } from '../data/resource.ts';
import { whyNot } from '../data/session.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { CopyRow } from '../ui/copy.tsx';
import { Await, Empty } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';
import { Findings } from './findings.tsx';
import type { TabProps } from './tab.ts';

export function EnvironmentDomains({ environment }: TabProps) {
  const { id } = environment;
  const [asked, ask] = useState<ConnectedDomain>();
  const [found, setFound] = useState<ReadonlyMap<string, readonly DomainFinding[]>>(new Map());
  const connected = useResource(
    `domains of ${id}`,
    (options) => api.listEnvironmentDomains({ id }, options),
    (event) =>
      event.kind === 'domain_updated' || (event.kind === 'project_updated' && event.reason === 'domain'),
  );
  return (
    <section class="stack" aria-label="Domains">
      <Await of={connected}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No domain leads here yet">
              <p>A name is routed here and gets a certificate once it is proven to be yours.</p>
            </Empty>
          ) : (
            items.map((domain) => (
              <NameCard
                key={domain.id}
                domain={domain}
                environment={environment}
                findings={found.get(domain.hostname) ?? []}
                onDisconnect={() => ask(domain)}
              />
            ))
          )
        }
      </Await>
      <ConnectForm
        environmentId={id}
        onConnected={async (hostname, findings) => {
          setFound(new Map([...found, [hostname, findings]]));
          await connected.reload();
        }}
      />
      {asked && (
        <Confirm
          title={`Disconnect ${asked.hostname}?`}
          verb="Disconnect it"
          name={asked.hostname}
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

interface CardProps {
  readonly domain: ConnectedDomain;
  readonly environment: Environment;
  /** Of the look when it was connected. */
  readonly findings: readonly DomainFinding[];
  readonly onDisconnect: () => void;
}

function NameCard({ domain, environment, findings, onDisconnect }: CardProps) {
  const { certificate, hostname, www } = domain;
  const domains = useDomains();
  // The look at the domain itself is about its own name, not about those below it.
  const own = domains.value?.find((each) => each.hostname === hostname)?.lastCheck?.findings ?? [];
  const shown = findings.length > 0 ? findings : own;
  return (
    <article class="card stack" aria-label={hostname}>
      <div class="section-head">
        <h2>
          <a href={domain.url} target="_blank" rel="noreferrer">
            {hostname}
          </a>{' '}
          <Status status={certificate.status} text={`certificate ${certificate.status}`} />
        </h2>
        <Button kind="quiet" why={whyNot('change')} onPress={onDisconnect}>
          Disconnect
        </Button>
      </div>
      <p class="fine">
        {certificate.issuer && `Issued by ${certificate.issuer}. `}
        {certificate.notAfter && (
          <>
            Ends <Time at={certificate.notAfter} />, and is renewed before.{' '}
          </>
        )}
        {domain.redirectHttp ? 'http leads to https.' : 'http is answered, too.'}
        {www === 'redirect_to_apex' && ` www.${hostname} leads here.`}
        {www === 'redirect_to_www' && ` It leads to www.${hostname}.`}
      </p>
      {certificate.fault && <FailureNotice failure={failureOfFault(certificate.fault)} />}
      <AddressRecords
        names={www === 'none' ? [hostname] : [hostname, `www.${hostname}`]}
        serverId={environment.serverId}
      />
      {shown.length > 0 && <Findings findings={shown} />}
    </article>
  );
}

/** What has to stand in the zone for visitors and the certificate authority to arrive. */
function AddressRecords({
  names,
  serverId,
}: {
  readonly names: readonly string[];
  readonly serverId: string | null;
}) {
  const host = useServers().value?.find(({ id }) => id === serverId)?.host;
  if (!host) return null;
  const type = host.includes(':') ? 'AAAA' : /^[\d.]+$/.test(host) ? 'A' : 'CNAME';
  return (
    <details>
      <summary>Records that lead to the server</summary>
      {names.map((name) => (
        <div key={name}>
          <CopyRow label="Type" value={type} />
          <CopyRow label="Name" value={name} />
          <CopyRow label="Value" value={host} />
        </div>
      ))}
      {type === 'CNAME' && (
        <p class="hint">
          The bare name of a zone takes no CNAME: give it an A record with the address of {host}.
        </p>
      )}
    </details>
  );
}

interface ConnectProps {
  readonly environmentId: string;
  readonly onConnected: (hostname: string, findings: readonly DomainFinding[]) => Promise<void>;
}

type Www = ConnectedDomain['www'];
const wwws: readonly { readonly value: Www; readonly text: string }[] = [
  { value: 'none', text: 'is not used' },
  { value: 'redirect_to_apex', text: 'leads to the name' },
  { value: 'redirect_to_www', text: 'is where the name leads' },
];

function ConnectForm({ environmentId: id, onConnected }: ConnectProps) {
  const domains = useDomains();
  const proven = (domains.value ?? []).filter(({ status }) => status === 'verified');
  const connect = useAction(async (fields: Readonly<Record<string, string>>) => {
    const made = await api.connectDomain({
      id,
      body: {
        hostname: fields.hostname ?? '',
        redirectHttp: fields.redirectHttp === 'on',
        www: wwws.find(({ value }) => value === fields.www)?.value ?? 'none',
      },
    });
    await onConnected(made.hostname, made.findings);
  });
  if (domains.value && proven.length === 0)
    return (
      <p class="hint">
        First register a name and prove that it is yours, under <a href="/domains">Domains</a>.
      </p>
    );
  return (
    <form
      class="card form"
      aria-label="Connect a name"
      onSubmit={async (event) => {
        event.preventDefault();
        const form = event.currentTarget;
        if (await connect.run(fieldsOf(form))) form.reset();
      }}
    >
      <h2>Connect a name</h2>
      <TextField
        label="Name"
        name="hostname"
        placeholder={proven[0]?.hostname ?? ''}
        hint={`${proven.map(({ hostname }) => hostname).join(', ')}, or any name below.`}
        error={connect.failure?.fields.hostname}
        suggestions={proven.map(({ hostname }) => hostname)}
        isRequired
      />
      <SelectField label="The same with www." name="www" value="none" options={wwws} />
      <label class="check">
        <input type="checkbox" name="redirectHttp" defaultChecked />
        Lead http to https
      </label>
      {connect.failure && <FailureNotice failure={connect.failure} />}
      <div class="row">
        <Button type="submit" kind="primary" isBusy={connect.isBusy} why={whyNot('change')}>
          Connect
        </Button>
      </div>
    </form>
  );
}
