/** Databases beside the app: the wanted whole, what each is doing, and what it tells the app. */
import { useState } from 'preact/hooks';
import type {
  ChangedServices,
  ListedService,
  ServiceKind,
  WantedService,
  WantedServices,
} from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { failureOfFault } from '../data/failure.ts';
import { useResource } from '../data/resource.ts';
import { whyNot } from '../data/session.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Await, Empty } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { Status } from '../ui/status.tsx';
import { useAsked } from './asked.ts';
import { ServiceCredentials } from './service-credentials.tsx';
import type { TabProps } from './tab.ts';

const kinds: readonly ServiceKind[] = ['postgres', 'mysql', 'mariadb', 'mongodb', 'redis'];

export function Services({ environment: { id } }: TabProps) {
  const [asked, ask] = useAsked(['service']);
  const [removing, remove] = useState<ListedService>();
  const [reaching, reach] = useState<ListedService>();
  const services = useResource(
    `services ${id}`,
    (options) => api.listServices({ id }, options),
    (event) => event.kind === 'project_updated' && event.environmentId === id,
  );
  const present = (services.value?.items ?? []).filter(({ removedAt }) => removedAt === null);
  const [needs, setNeeds] = useState<ChangedServices['needs']>();
  const store = async (body: WantedServices) => {
    setNeeds((await api.setServices({ id, body })).needs);
    await services.reload();
  };
  /** The wanted whole is told each time. */
  const wanted = present.map(({ kind, version, name, memoryMb }) => ({ kind, version, name, memoryMb }));
  return (
    <section class="stack" aria-label="Services">
      <div class="section-head">
        <p class="hint">Reached by the app alone, over a network of its own. Nothing is published.</p>
        <Button kind="primary" why={whyNot('change')} onPress={() => ask('service')}>
          Add a service
        </Button>
      </div>
      {needs && (
        <p class="notice" role="status">
          {needs === 'restart'
            ? 'Saved. The app knows of it with its next deployment; press Deploy for that.'
            : 'Saved. Nothing has to be done.'}
        </p>
      )}
      <Await of={services}>
        {() =>
          present.length === 0 ? (
            <Empty title="No database here">
              <p>Add one, and its address enters the variables of the app with the next deployment.</p>
            </Empty>
          ) : (
            <div class="columns cards">
              {present.map((service) => (
                <article class="card stack" key={service.id} aria-label={service.name}>
                  <div class="section-head">
                    <h2>
                      {service.name}{' '}
                      <span class="fine">{`${service.name === service.kind ? '' : `${service.kind} `}${service.version}`}</span>
                    </h2>
                    <Status status={service.status} />
                  </div>
                  {service.problem && <FailureNotice failure={failureOfFault(service.problem)} />}
                  <p class="fine">
                    {service.memoryMb} MB of memory. Tells the app:{' '}
                    {service.variables.join(', ') || 'nothing'}
                  </p>
                  <div class="row row-end">
                    <Button
                      kind="quiet"
                      why={whyNot('read_secrets')}
                      label={`How to reach it: ${service.name}`}
                      onPress={() => reach(service)}
                    >
                      How to reach it
                    </Button>
                    <Button
                      kind="quiet"
                      why={whyNot('change')}
                      label={`Remove ${service.name}`}
                      onPress={() => remove(service)}
                    >
                      Remove
                    </Button>
                  </div>
                </article>
              ))}
            </div>
          )
        }
      </Await>
      {asked && (
        <AddDialog
          add={(service) => store({ services: [...wanted, service] })}
          onClose={() => ask(undefined)}
        />
      )}
      {reaching && (
        <ServiceCredentials environmentId={id} service={reaching} onClose={() => reach(undefined)} />
      )}
      {removing && (
        <Confirm
          title={`Remove ${removing.name}?`}
          verb="Remove it"
          name={removing.name}
          isDangerous
          onConfirm={() =>
            store({
              services: wanted.filter(({ name }) => name !== removing.name),
              remove: [removing.name],
            })
          }
          onClose={() => remove(undefined)}
        >
          <p>
            It stops, and the app no longer gets its address. Its data stays on the server: adding it again
            under this name finds it.
          </p>
        </Confirm>
      )}
    </section>
  );
}

interface AddProps {
  readonly add: (service: WantedService) => Promise<void>;
  readonly onClose: () => void;
}

function AddDialog({ add, onClose }: AddProps) {
  const action = useAction(add);
  // It stands behind those that are there already.
  const errorOf = (field: string) =>
    Object.entries(action.failure?.fields ?? {}).find(([path]) => path.endsWith(`.${field}`))?.[1];
  return (
    <Dialog title="Add a service" onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const fields = fieldsOf(event.currentTarget);
          const { name, version, memoryMb } = fields;
          const kind = kinds.find((each) => each === fields.kind) ?? 'postgres';
          const service = {
            kind,
            ...(name && { name }),
            ...(version && { version }),
            ...(memoryMb && { memoryMb: Number(memoryMb) }),
          };
          if (await action.run(service)) onClose();
        }}
      >
        <SelectField label="Kind" name="kind" options={kinds.map((each) => ({ value: each, text: each }))} />
        <TextField
          label="Version"
          name="version"
          hint="Empty: the one that is usual for its kind."
          error={errorOf('version')}
        />
        <TextField
          label="Name"
          name="name"
          hint="May stay empty: it is then called after its kind."
          error={errorOf('name')}
        />
        <TextField
          label="Memory in MB"
          name="memoryMb"
          type="number"
          hint="The most that it may use. Empty: what is usual for its kind."
          error={errorOf('memoryMb')}
        />
        {action.failure && <FailureNotice failure={action.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={action.isBusy}>
            Add
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
