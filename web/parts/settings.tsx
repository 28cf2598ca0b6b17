/** The settings of an environment: how it is built and run, where it stands, its name and branch, and its end. */
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Environment } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useClusters, useProject, useServers } from '../data/lists.ts';
import { whyNot } from '../data/session.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { BranchField } from './branch-field.tsx';
import { ProcessesAndVolumes } from './processes-volumes.tsx';
import { RunSettings } from './run-settings.tsx';
import type { TabProps } from './tab.ts';

export function Settings({ environment }: TabProps) {
  return (
    <div class="columns">
      <div class="stack">
        <RunSettings environment={environment} />
        <ProcessesAndVolumes environment={environment} />
      </div>
      <div class="stack">
        <Placement environment={environment} />
        <NameAndBranch environment={environment} />
        <End environment={environment} />
      </div>
    </div>
  );
}

interface Props {
  readonly environment: Environment;
}

/** The value of a choice: a server or a cluster, by its id. */
const clusterMark = 'cluster ';

function placeOf(chosen: string) {
  if (!chosen.startsWith(clusterMark)) return { serverId: chosen };
  return { placement: { clusterId: chosen.slice(clusterMark.length) } };
}

function Placement({ environment: { id, serverId, placement } }: Props) {
  const servers = useServers();
  const clusters = useClusters();
  const link = useAction((chosen: string) => api.linkServer({ id, body: placeOf(chosen) }));
  const isOnCluster = placement !== null && 'clusterId' in placement;
  const now = isOnCluster ? `${clusterMark}${placement.clusterId}` : (serverId ?? '');
  const options = [
    ...(serverId === null ? [{ value: '', text: 'choose …' }] : []),
    // A member belongs to its cluster as a whole.
    ...(servers.value ?? [])
      .filter(({ clusterId }) => clusterId === null)
      .map(({ id: value, name, host }) => ({ value, text: `${name} (${host})` })),
    ...(clusters.value ?? []).map((each) => ({
      value: `${clusterMark}${each.id}`,
      text: `${each.name} (cluster of ${each.members.length})`,
    })),
  ];
  return (
    <form
      class="card form"
      aria-label="Server"
      onSubmit={(event) => {
        event.preventDefault();
        const { server = '' } = fieldsOf(event.currentTarget);
        if (server !== '' && server !== now) void link.run(server);
      }}
    >
      <h2>Where it stands</h2>
      <Await of={servers} lines={2}>
        {() => (
          <SelectField
            label="Server or cluster"
            name="server"
            value={now}
            options={options}
            hint="A move deploys the release that is live in the new place first, then leaves the old one."
          />
        )}
      </Await>
      {link.failure && <FailureNotice failure={link.failure} />}
      <div class="row">
        <Button
          type="submit"
          isBusy={link.isBusy}
          why={
            whyNot('change') ??
            (servers.value?.length === 0 ? 'There is no server yet: add one under Servers.' : undefined)
          }
        >
          {serverId === null ? 'Choose' : 'Move'}
        </Button>
      </div>
    </form>
  );
}

function pathsOf(text: string): string[] {
  return text
    .split(',')
    .map((path) => path.trim())
    .filter(Boolean);
}

function NameAndBranch({ environment: { id, projectId, name, branch, autoDeploy, watchPaths } }: Props) {
  const store = useAction(async (fields: Readonly<Record<string, string>>) => {
    const wanted = pathsOf(fields.watchPaths ?? '');
    if (fields.name !== name || wanted.join() !== watchPaths.join())
      await api.updateEnvironment({ id, body: { name: fields.name, watchPaths: wanted } });
    if (fields.branch !== branch) await api.setBranch({ id, body: { branch: fields.branch ?? '' } });
    return true;
  });
  const { repository } = useProject(projectId).value ?? {};
  const setAuto = useAction((enabled: boolean) => api.setAutoDeploy({ id, body: { enabled } }));
  /** What was chosen is shown until an event tells it as the state; a refusal takes it back. */
  const [chosen, choose] = useState<boolean>();
  useEffect(() => choose(undefined), [autoDeploy]);
  const failure = store.failure ?? setAuto.failure;
  return (
    <form
      class="card form"
      aria-label="Name and branch"
      onSubmit={(event) => {
        event.preventDefault();
        void store.run(fieldsOf(event.currentTarget));
      }}
    >
      <h2>Name and branch</h2>
      <TextField label="Name" name="name" value={name} error={failure?.fields.name} isRequired />
      <BranchField repository={repository} value={branch} error={failure?.fields.branch} isRequired />
      <label class="check">
        <input
          type="checkbox"
          checked={chosen ?? autoDeploy}
          disabled={whyNot('change') !== undefined}
          onChange={async (event) => {
            const wanted = event.currentTarget.checked;
            choose(wanted);
            if (!(await setAuto.run(wanted))) choose(undefined);
          }}
        />
        Deploy each push to it
      </label>
      <TextField
        label="Only where a push changes"
        name="watchPaths"
        value={watchPaths.join(', ')}
        placeholder="apps/web, packages/*/src"
        hint="Folders or patterns, with a comma between. Empty: any push."
        error={Object.entries(failure?.fields ?? {}).find(([path]) => path.startsWith('watchPaths'))?.[1]}
      />
      {failure && <FailureNotice failure={failure} />}
      <div class="row">
        <Button type="submit" isBusy={store.isBusy} why={whyNot('change')}>
          Save
        </Button>
        <span role="status">{store.result === undefined || store.isBusy ? '' : 'Saved.'}</span>
      </div>
    </form>
  );
}

function End({ environment: { id, name, projectId } }: Props) {
  const { route } = useLocation();
  const [isAsked, ask] = useState(false);
  const [deleteData, setDeleteData] = useState(false);
  return (
    <section class="card stack" aria-label="Remove">
      <h2>Remove it</h2>
      <p class="hint">It is taken down on its server, with its containers, names and certificates.</p>
      <div class="row">
        <Button kind="danger" why={whyNot('manage')} onPress={() => ask(true)}>
          Remove {name}
        </Button>
      </div>
      {isAsked && (
        <Confirm
          title={`Remove ${name}?`}
          verb="Remove it"
          name={name}
          isDangerous
          onConfirm={async () => {
            await api.deleteEnvironment({ id, deleteData });
            route(`/projects/${projectId}`);
          }}
          onClose={() => ask(false)}
        >
          <p>Visitors get no answer any more. This cannot be taken back.</p>
          <label class="check">
            <input
              type="checkbox"
              checked={deleteData}
              onChange={(event) => setDeleteData(event.currentTarget.checked)}
            />
            Delete the data of its services and volumes too
          </label>
        </Confirm>
      )}
    </section>
  );
}
