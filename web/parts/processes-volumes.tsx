/** What runs beside the web process, and the folders that outlive releases: each a row, added, changed and taken out. */
import { useState } from 'preact/hooks';
import type { Environment, ProcessSettings, Volume } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { Refusal } from '../data/failure.ts';
import { useProject } from '../data/lists.ts';
import { whyNot } from '../data/session.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';

type Fields = Readonly<Record<string, string>>;

/** Rows keep their number while others come and go, so that what is typed stays where it is. */
function useRows<T>(first: readonly T[]) {
  const [rows, setRows] = useState<readonly (readonly [number: number, value: T | undefined])[]>(
    first.map((value, number) => [number, value]),
  );
  return {
    rows,
    add: () => setRows([...rows, [Math.max(-1, ...rows.map(([number]) => number)) + 1, undefined]]),
    remove: (gone: number) => setRows(rows.filter(([number]) => number !== gone)),
  };
}

export function ProcessesAndVolumes({ environment }: { readonly environment: Environment }) {
  const { id, settings, projectId } = environment;
  const { apps = [] } = useProject(projectId).value?.analysis.result ?? {};
  const found = (apps.find(({ path }) => path === settings.appPath) ?? apps[0])?.processes ?? [];
  const processes = useRows(Object.entries(settings.processes ?? {}));
  const volumes = useRows(settings.volumes ?? []);
  const [said, say] = useState('');
  const save = useAction(async (fields: Fields) => {
    const named = processes.rows.map(([number]) => processIn(fields, number));
    const twice = named.find(([name], at) => named.findIndex(([other]) => other === name) !== at);
    if (twice) throw new Refusal(`Two processes have the name ${twice[0]}.`, 'Give each a name of its own.');
    const wanted = {
      processes: Object.fromEntries(named),
      volumes: volumes.rows.map(([number]): Volume => volumeIn(fields, number)),
    };
    const { needs } = await api.updateEnvironment({ id, body: { settings: wanted } });
    say(needs === 'nothing' ? 'Saved.' : `Saved. It needs a ${needs}: press Deploy.`);
  });
  return (
    <form
      class="card form"
      aria-label="Processes and volumes"
      onSubmit={(event) => {
        event.preventDefault();
        say('');
        void save.run(fieldsOf(event.currentTarget));
      }}
    >
      <h2>Processes and volumes</h2>
      <p class="hint">
        Processes run beside the web process, from the same image; one with a schedule runs then, in UTC.
        {found.length > 0 && ` Found in the repository: ${found.map(({ name }) => name).join(', ')}.`}
      </p>
      {processes.rows.map(([number, row]) => (
        <ProcessRow key={number} number={number} row={row} onRemove={() => processes.remove(number)} />
      ))}
      <p class="hint">
        A volume is a folder that outlives releases. With one, the old release stops before the new one
        starts.
      </p>
      {volumes.rows.map(([number, row]) => (
        <VolumeRow key={number} number={number} row={row} onRemove={() => volumes.remove(number)} />
      ))}
      <div class="row">
        <Button onPress={processes.add}>Add a process</Button>
        <Button onPress={volumes.add}>Add a volume</Button>
      </div>
      {save.failure && <FailureNotice failure={save.failure} />}
      <div class="row">
        <Button type="submit" isBusy={save.isBusy} why={whyNot('change')}>
          Save
        </Button>
        <span role="status">{said}</span>
      </div>
    </form>
  );
}

interface RowProps<T> {
  readonly number: number;
  readonly row: T | undefined;
  readonly onRemove: () => void;
}

function ProcessRow({ number, row, onRemove }: RowProps<readonly [name: string, process: ProcessSettings]>) {
  const [name = '', { command, replicas, schedule } = {}] = row ?? [];
  return (
    <fieldset class="form">
      <legend>Process {name || number + 1}</legend>
      <div class="pairs">
        <TextField
          label="Name"
          name={`process-${number}-name`}
          value={name}
          placeholder="worker"
          isRequired
        />
        <TextField
          label="Command"
          name={`process-${number}-command`}
          value={command ?? ''}
          placeholder="node worker.js"
        />
        <TextField
          label="Replicas"
          name={`process-${number}-replicas`}
          type="number"
          value={String(replicas ?? '')}
          placeholder="1"
        />
        <TextField
          label="Schedule, as cron"
          name={`process-${number}-schedule`}
          value={schedule ?? ''}
          placeholder="*/5 * * * *"
        />
      </div>
      <div class="row row-end">
        <Button kind="quiet" onPress={onRemove}>
          Take this process out
        </Button>
      </div>
    </fieldset>
  );
}

function VolumeRow({ number, row, onRemove }: RowProps<Volume>) {
  return (
    <fieldset class="form">
      <legend>Volume {row?.name ?? number + 1}</legend>
      <div class="pairs">
        <TextField
          label="Name"
          name={`volume-${number}-name`}
          value={row?.name ?? ''}
          placeholder="uploads"
          isRequired
        />
        <TextField
          label="Folder in the container"
          name={`volume-${number}-path`}
          value={row?.path ?? ''}
          placeholder="/app/uploads"
          isRequired
        />
      </div>
      <div class="row row-end">
        <Button kind="quiet" onPress={onRemove}>
          Take this volume out
        </Button>
      </div>
    </fieldset>
  );
}

function processIn(fields: Fields, number: number): readonly [name: string, process: ProcessSettings] {
  const of = (field: string) => fields[`process-${number}-${field}`] ?? '';
  const [command, replicas, schedule] = [of('command'), of('replicas'), of('schedule')];
  return [
    of('name'),
    {
      ...(command !== '' && { command }),
      ...(replicas !== '' && { replicas: Number(replicas) }),
      ...(schedule !== '' && { schedule }),
    },
  ];
}

function volumeIn(fields: Fields, number: number): Volume {
  const of = (field: string) => fields[`volume-${number}-${field}`] ?? '';
  return { name: of('name'), path: of('path') };
}
