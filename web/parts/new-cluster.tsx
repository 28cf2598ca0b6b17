/** Which servers become members: of a new cluster, or of one that is there. What cannot be chosen says why. */
import type { Cluster, Project, Server } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useProjects, useServers } from '../data/lists.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';

interface NewClusterProps {
  readonly onMade: (cluster: Cluster) => void;
  readonly onClose: () => void;
}

export function NewCluster({ onMade, onClose }: NewClusterProps) {
  const make = useAction(async (form: HTMLFormElement) => {
    const { name = '', network } = fieldsOf(form);
    const body = { name, serverIds: chosenIn(form), ...(network && { network }) };
    onMade(await api.createCluster({ body }));
  });
  const errors = make.failure?.fields ?? {};
  return (
    <Dialog title="Make a cluster" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void make.run(event.currentTarget);
        }}
      >
        <TextField label="Name" name="name" placeholder="shop" error={errors.name} isRequired isFocused />
        <ServerChoice />
        <TextField
          label="Private network"
          name="network"
          placeholder="10.0.0.0/16"
          hint="Over which they speak to each other. Empty: by the addresses that Slipway logs in to."
          error={errors.network}
        />
        {make.failure && <FailureNotice failure={make.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={make.isBusy}>
            Check and join
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface MoreServersProps {
  readonly cluster: Cluster;
  readonly onClose: () => void;
}

export function MoreServers({ cluster: { id, name }, onClose }: MoreServersProps) {
  const add = useAction((form: HTMLFormElement) =>
    api.createClusterMembers({ id, body: { serverIds: chosenIn(form) } }),
  );
  return (
    <Dialog title={`Add servers to ${name}`} onClose={onClose}>
      <form
        class="form"
        onSubmit={async (event) => {
          event.preventDefault();
          if (await add.run(event.currentTarget)) onClose();
        }}
      >
        <ServerChoice />
        {add.failure && <FailureNotice failure={add.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={add.isBusy}>
            Check and join
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function chosenIn(form: HTMLFormElement): string[] {
  return new FormData(form).getAll('serverIds').map(String);
}

function whyNoMember(server: Server, projects: readonly Project[]): string | undefined {
  if (server.clusterId) return 'in a cluster';
  if (server.status !== 'ready') return 'not ready';
  if (!server.provisionedAt) return 'not prepared yet';
  const hasEnvironments = projects.some(({ environments }) =>
    environments.some(({ serverId }) => serverId === server.id),
  );
  return hasEnvironments ? 'has environments' : undefined;
}

function ServerChoice() {
  const [servers, projects] = [useServers(), useProjects()];
  return (
    <fieldset class="stack">
      <legend>Servers</legend>
      <Await of={servers}>
        {(list) =>
          list.length === 0 ? (
            <p class="hint">
              There is none yet. <a href="/servers?ask=server">Add a server</a>
            </p>
          ) : (
            list.map((server) => {
              const why = whyNoMember(server, projects.value ?? []);
              return (
                <label class="check" key={server.id}>
                  <input type="checkbox" name="serverIds" value={server.id} disabled={why !== undefined} />
                  <span>
                    {server.name} <span class="fine">{why ?? server.host}</span>
                  </span>
                </label>
              );
            })
          )
        }
      </Await>
      <p class="hint">
        They are looked at first, and nothing is changed: no environments, no other swarm, one architecture,
        and a way to each other. What fails takes all of them out again.
      </p>
    </fieldset>
  );
}
