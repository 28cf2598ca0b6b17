/** One cluster: what it can stand, what is wrong with it, its servers, and what is done with it now. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso/router';
import type { Cluster } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { failureOfFault } from '../data/failure.ts';
import { useCluster, useOperations } from '../data/lists.ts';
import { whyNot } from '../data/session.ts';
import { useAsked } from '../parts/asked.ts';
import { Choice, ClusterMembers, ClusterStatus, whyNotNow } from '../parts/cluster-members.tsx';
import { MoreServers } from '../parts/new-cluster.tsx';
import { OperationView } from '../parts/operation-view.tsx';
import { isShown } from '../parts/server-work.tsx';
import { useTitle } from '../parts/title.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Await, Empty } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { Time } from '../ui/time.tsx';

export function ClusterPage() {
  const { params } = useRoute();
  const cluster = useCluster(params.id ?? '');
  useTitle(cluster.value?.name);
  return (
    <Await of={cluster} lines={8}>
      {(value) => <Shown key={value.id} cluster={value} />}
    </Await>
  );
}

function Shown({ cluster }: { readonly cluster: Cluster }) {
  const { id, name, members, problem, operationId } = cluster;
  const [asked, ask] = useAsked(['servers', 'reboot', 'rename', 'delete']);
  const work = useOperations().value?.find((each) => each.id === operationId);
  const why = whyNotNow(work?.finishedAt === null);
  const close = () => ask(undefined);
  return (
    <>
      <header class="page-head">
        <div class="clip">
          <p class="crumbs">
            <a href="/clusters">Clusters</a>
          </p>
          <h1>
            {name} <ClusterStatus cluster={cluster} />
          </h1>
        </div>
        <div class="row">
          <Button kind="danger" why={why} onPress={() => ask('delete')}>
            Delete
          </Button>
          <Button
            why={why ?? (cluster.status === 'ready' ? undefined : 'Not all of its servers are up.')}
            onPress={() => ask('reboot')}
          >
            Reboot
          </Button>
          <Button why={whyNot('manage')} onPress={() => ask('rename')}>
            Rename
          </Button>
          <Button kind={members.length === 0 ? 'primary' : 'plain'} why={why} onPress={() => ask('servers')}>
            Add servers
          </Button>
        </div>
      </header>
      {problem && <FailureNotice failure={failureOfFault(problem)} />}
      <dl class="facts">
        <Fact name="Managers">{cluster.managers.inWords}</Fact>
        <Fact name="Members speak">
          {cluster.network ? `in ${cluster.network}` : 'by the addresses that Slipway logs in to'}
        </Fact>
        <Fact name="Encrypted networks between containers">{encryption[cluster.overlayEncryption]}</Fact>
        <Fact name="Looked at">{cluster.checkedAt ? <Time at={cluster.checkedAt} /> : 'not yet'}</Fact>
      </dl>
      {work && isShown(work) && <OperationView key={work.id} id={work.id} />}
      {members.length === 0 ? (
        <Empty title="No server in it">
          <p>Add servers, or delete it.</p>
        </Empty>
      ) : (
        <ClusterMembers cluster={cluster} why={why} />
      )}
      {asked === 'servers' && <MoreServers cluster={cluster} onClose={close} />}
      {asked === 'reboot' && <Reboot cluster={cluster} onClose={close} />}
      {asked === 'rename' && <Rename cluster={cluster} onClose={close} />}
      {asked === 'delete' && <Delete key={id} cluster={cluster} onClose={close} />}
    </>
  );
}

const encryption: Readonly<Record<Cluster['overlayEncryption'], string>> = {
  available: 'possible on all members',
  unavailable: 'not possible: the kernel of a member cannot',
  unknown: 'not known yet',
};

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface AskedProps {
  readonly cluster: Cluster;
  readonly onClose: () => void;
}

function Rename({ cluster: { id, name }, onClose }: AskedProps) {
  const store = useAction((wanted: string) => api.updateCluster({ id, body: { name: wanted } }));
  return (
    <Dialog title={`Rename ${name}`} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (await store.run(fieldsOf(event.currentTarget).name ?? '')) onClose();
        }}
      >
        <TextField
          label="Name"
          name="name"
          value={name}
          error={store.failure?.fields.name}
          isRequired
          isFocused
        />
        {store.failure && <FailureNotice failure={store.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={store.isBusy}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Reboot({ cluster: { id, name, managers }, onClose }: AskedProps) {
  const [update, setUpdate] = useState(true);
  const [acceptDowntime, setAccept] = useState(false);
  return (
    <Confirm
      title={`Reboot all servers of ${name}?`}
      verb="Reboot them"
      onConfirm={() => api.rebootCluster({ id, body: { update, acceptDowntime } })}
      onClose={onClose}
    >
      <p>
        One after the other: each is drained, rebooted, and back in use before the next. Where one does not
        come back, the others are left as they are.
      </p>
      <div class="stack">
        <Choice text="Install security updates first" isChosen={update} onChoice={setUpdate} />
        <Choice
          text={
            managers.present < 3
              ? 'With fewer than three managers something is down meanwhile; that is acceptable'
              : 'Databases and volumes are down while their server reboots; that is acceptable'
          }
          isChosen={acceptDowntime}
          onChoice={setAccept}
        />
      </div>
    </Confirm>
  );
}

function Delete({ cluster: { id, name, members, status }, onClose }: AskedProps) {
  const { route } = useLocation();
  const [lost, setLost] = useState(false);
  const isAsked = useRef(false);
  return (
    <Confirm
      title={`Delete ${name}?`}
      verb="Delete it"
      name={name}
      isDangerous
      onConfirm={async () => {
        await api.deleteCluster({ id, lost });
        isAsked.current = true;
      }}
      // This page ends with the cluster.
      onClose={() => (isAsked.current ? route('/clusters', true) : onClose())}
    >
      <p>
        {members.length === 0
          ? 'It has no servers: it is only forgotten.'
          : 'All of its servers leave the swarm and are servers on their own again. What Swarm runs there is gone with it.'}
      </p>
      {members.length > 0 && status !== 'ready' && (
        <Choice
          text="Servers that do not answer are gone for good: only forget them"
          isChosen={lost}
          onChoice={setLost}
        />
      )}
    </Confirm>
  );
}
