/** One server: what it is, whether it can be reached, how safe it is, and what stands on it. */
import { useLocation, useRoute } from 'preact-iso/router';
import type { Server } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { failureOfFault } from '../data/failure.ts';
import { useProjects, useServer } from '../data/lists.ts';
import { whyNot } from '../data/session.ts';
import { bytes, memory } from '../data/words.ts';
import { useAsked } from '../parts/asked.ts';
import { ConnectionTest } from '../parts/connection-test.tsx';
import { EditServer } from '../parts/edit-server.tsx';
import { Security } from '../parts/security.tsx';
import { ServerWork } from '../parts/server-work.tsx';
import { useTitle } from '../parts/title.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { CopyRow } from '../ui/copy.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';

export function ServerPage() {
  const { params } = useRoute();
  const server = useServer(params.id ?? '');
  useTitle(server.value?.name);
  return (
    <Await of={server} lines={10}>
      {(value) => <Shown key={value.id} server={value} />}
    </Await>
  );
}

function Shown({ server }: { readonly server: Server }) {
  const {
    id,
    name,
    host,
    port,
    username,
    status,
    facts,
    lastSeenAt,
    problem,
    provisionedAt,
    hostKeyFingerprint,
  } = server;
  const { route } = useLocation();
  const [asked, ask] = useAsked(['change', 'remove']);
  const provision = useAction(() => api.provisionServer({ id }));
  const accept = useAction((acceptHostKey: string) => api.updateServer({ id, body: { acceptHostKey } }));
  const failure = provision.failure ?? accept.failure;
  const { offeredHostKeyFingerprint: offered } = server;
  return (
    <>
      <header class="page-head">
        <div class="clip">
          <p class="crumbs">
            <a href="/servers">Servers</a>
          </p>
          <h1>
            {name} <Status status={status} />
          </h1>
        </div>
        <div class="row">
          <Button kind="danger" why={whyNot('manage')} onPress={() => ask('remove')}>
            Remove
          </Button>
          <Button why={whyNot('manage')} onPress={() => ask('change')}>
            Change
          </Button>
          <Button
            kind={provisionedAt ? 'plain' : 'primary'}
            isBusy={provision.isBusy}
            why={whyNot('manage')}
            onPress={provision.run}
          >
            {provisionedAt ? 'Prepare again' : 'Prepare for deployments'}
          </Button>
        </div>
      </header>
      {problem && <FailureNotice failure={failureOfFault(problem)} />}
      {failure && <FailureNotice failure={failure} />}
      {offered && (
        <div class="notice notice-warn">
          <p>
            It now shows the key <code>{offered}</code> instead of <code>{hostKeyFingerprint}</code>. Accept
            it only if you know why: someone else may be answering in its place.
          </p>
          <div class="row">
            <Button
              kind="danger"
              isBusy={accept.isBusy}
              why={whyNot('manage')}
              onPress={() => accept.run(offered)}
            >
              Accept the new key
            </Button>
          </div>
        </div>
      )}
      <dl class="facts">
        <Fact name="Address" value={`${username}@${host}${port === 22 ? '' : `:${port}`}`} />
        <Fact name="System" value={facts?.os.replace('GNU/Linux ', '') ?? ''} />
        <Fact name="Processors" value={facts ? `${facts.cpus}, ${facts.arch}` : ''} />
        <Fact name="Memory" value={facts ? memory(facts.memoryMb) : ''} />
        <Fact name="Free disk" value={facts ? bytes(facts.diskFreeMb * 1024 * 1024) : ''} />
        <Fact
          name="Docker"
          value={facts?.dockerVersion ?? (provisionedAt ? '' : 'comes with the preparation')}
        />
        {server.clusterId && (
          <div>
            <dt>Cluster</dt>
            <dd>
              <a href={`/clusters/${server.clusterId}`}>It is a member</a>
            </dd>
          </div>
        )}
        <div>
          <dt>Seen</dt>
          <dd>{lastSeenAt ? <Time at={lastSeenAt} /> : 'never'}</dd>
        </div>
      </dl>
      <ServerWork serverId={id} name={name} />
      <div class="columns">
        <div class="stack">
          <section class="card stack" aria-label="Connection">
            <h2>Connection</h2>
            {whyNot('manage') === undefined ? (
              <ConnectionTest serverId={id} />
            ) : (
              <p class="hint">{whyNot('manage')}</p>
            )}
            {server.publicKey && <CopyRow label="Public key" value={server.publicKey.trim()} />}
            {hostKeyFingerprint && <CopyRow label="Host key" value={hostKeyFingerprint} />}
          </section>
          <Standing serverId={id} />
        </div>
        <Security serverId={id} isReady={status === 'ready'} />
      </div>
      {asked === 'change' && <EditServer server={server} onClose={() => ask(undefined)} />}
      {asked === 'remove' && (
        <Confirm
          title={`Remove ${name}?`}
          verb="Remove it"
          name={name}
          isDangerous
          onConfirm={async () => {
            await api.deleteServer({ id });
            route('/servers');
          }}
          onClose={() => ask(undefined)}
        >
          <p>
            What Slipway put on it is taken away, and its key forgotten. Environments that stand on it keep
            this from happening.
          </p>
        </Confirm>
      )}
    </>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="clip" title={value}>
        {value || <span class="hint">unknown</span>}
      </dd>
    </div>
  );
}

function Standing({ serverId }: { readonly serverId: string }) {
  const projects = useProjects();
  const standing = (projects.value ?? []).flatMap((project) =>
    project.environments
      .filter((each) => each.serverId === serverId)
      .map((environment) => ({ project, environment })),
  );
  return (
    <section class="card stack" aria-label="What stands on it">
      <h2>What stands on it</h2>
      {standing.length === 0 ? (
        <p class="hint">
          Nothing. Choose it in the settings of an environment, or in the first run of a project.
        </p>
      ) : (
        <ul class="plain stack">
          {standing.map(({ project, environment }) => (
            <li key={environment.id}>
              <a href={`/environments/${environment.id}`}>
                {project.name} / {environment.name}
              </a>{' '}
              <Status status={environment.status} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
