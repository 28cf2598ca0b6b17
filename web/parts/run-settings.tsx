/** How an environment is built and run. An empty field is what the analysis found. */
import { useState } from 'preact/hooks';
import type { Environment, EnvironmentSettings } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useProject } from '../data/lists.ts';
import { whyNot } from '../data/session.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { SelectField, TextField } from '../ui/field.tsx';

interface Props {
  readonly environment: Environment;
}

const usualTexts = [
  'installCommand',
  'buildCommand',
  'startCommand',
  'releaseCommand',
  'healthPath',
  'dockerfilePath',
] as const;
const usualNumbers = ['port', 'replicas', 'memoryMb', 'cpus'] as const;
const rareTexts = ['staticOutput', 'dockerfileTarget'] as const;
const rareNumbers = ['drainSeconds', 'stopSeconds', 'holdSeconds', 'buildMemoryMb', 'buildCpus'] as const;
const texts = [...usualTexts, ...rareTexts];
const numbers = [...usualNumbers, ...rareNumbers];
/** On a cluster. */
const spreads = [
  { value: 'even', text: 'Even: as many on each server' },
  { value: 'packed', text: 'Packed: on as few servers as have room' },
];
type Name = (typeof texts)[number] | (typeof numbers)[number];
const labels: Readonly<Record<Name, string>> = {
  installCommand: 'Install command',
  buildCommand: 'Build command',
  startCommand: 'Start command',
  releaseCommand: 'Release command, before the switch',
  healthPath: 'Health check path',
  dockerfilePath: 'Dockerfile',
  port: 'Port',
  replicas: 'Replicas',
  memoryMb: 'Memory in MB',
  cpus: 'Processors',
  staticOutput: 'Folder of files that are served as they are',
  dockerfileTarget: 'Stage of the Dockerfile',
  drainSeconds: 'Seconds for the last requests',
  stopSeconds: 'Seconds to stop',
  holdSeconds: 'Seconds a request waits',
  buildMemoryMb: 'Memory of a build in MB',
  buildCpus: 'Processors of a build',
};
/** Of the health check, with what holds where nothing is said; its port is the app's then. */
const healthNumbers = [
  { name: 'startSeconds', label: 'Seconds until the first good answer', usual: '60' },
  { name: 'timeoutSeconds', label: 'Seconds for one answer of the health check', usual: '5' },
  { name: 'port', label: 'Port of the health check', usual: '' },
] as const;
/** Where nothing is said, and no analysis finds it. */
const defaults: Partial<Readonly<Record<Name, string>>> = {
  replicas: '1',
  drainSeconds: '30',
  stopSeconds: '10',
  holdSeconds: '30',
};

type Health = EnvironmentSettings['health'];

/** What else is said of it stays. */
function healthFrom({ path }: NonNullable<Health> = {}, fields: Readonly<Record<string, string>>): Health {
  const said = healthNumbers.flatMap(({ name }) => {
    const value = fields[`health.${name}`];
    return value ? [[name, Number(value)] as const] : [];
  });
  if (said.length === 0 && path === undefined) return undefined;
  return { ...(path !== undefined && { path }), ...Object.fromEntries(said) };
}

export function RunSettings({ environment: { id, settings, projectId, placement } }: Props) {
  const isOnCluster = placement !== null && 'clusterId' in placement;
  const [said, say] = useState('');
  const { apps = [] } = useProject(projectId).value?.analysis.result ?? {};
  const app = apps.find(({ path }) => path === settings.appPath) ?? apps[0];
  const foundOf = (name: Name) =>
    String((app && Object.entries(app).find(([field]) => field === name)?.[1]) ?? defaults[name] ?? '');
  const store = useAction(async (fields: Readonly<Record<string, string>>) => {
    const set: Record<string, string | number> = {};
    for (const name of texts) if (fields[name]) set[name] = fields[name];
    for (const name of numbers) if (fields[name]) set[name] = Number(fields[name]);
    if (fields.spread) set.spread = fields.spread;
    const health = healthFrom(settings.health, fields);
    const emptied = [
      ...[...texts, ...numbers].filter((name) => !fields[name]),
      ...(health ? [] : (['health'] as const)),
    ];
    const body = {
      settings: { ...(set as EnvironmentSettings), ...(health && { health }) },
      ...(emptied.length > 0 && { resetSettings: emptied }),
    };
    const { needs } = await api.updateEnvironment({ id, body });
    say(needs === 'nothing' ? 'Saved.' : `Saved. It needs a ${needs}: press Deploy.`);
  });
  const errors = store.failure?.fields ?? {};
  const textField = (name: (typeof texts)[number]) => (
    <TextField
      key={name}
      label={labels[name]}
      name={name}
      value={settings[name] ?? ''}
      placeholder={foundOf(name)}
      error={errors[`settings.${name}`]}
    />
  );
  const numberField = (name: (typeof numbers)[number]) => (
    <TextField
      key={name}
      label={labels[name]}
      name={name}
      type="number"
      value={String(settings[name] ?? '')}
      placeholder={foundOf(name)}
      error={errors[`settings.${name}`]}
    />
  );
  return (
    <form
      class="card form"
      aria-label="How it runs"
      onSubmit={(event) => {
        event.preventDefault();
        say('');
        void store.run(fieldsOf(event.currentTarget));
      }}
    >
      <h2>How it is built and run</h2>
      <p class="hint">What stays empty is as the analysis of the repository found it, shown in grey.</p>
      {usualTexts.map(textField)}
      <div class="pairs pairs-narrow">{usualNumbers.map(numberField)}</div>
      {isOnCluster && (
        <SelectField
          label="Placement of replicas"
          name="spread"
          value={settings.spread ?? 'even'}
          options={spreads}
          error={errors['settings.spread']}
        />
      )}
      <details>
        <summary>More</summary>
        <div class="form">
          {rareTexts.map(textField)}
          <div class="pairs">
            {rareNumbers.map(numberField)}
            {healthNumbers.map(({ name, label, usual }) => (
              <TextField
                key={name}
                label={label}
                name={`health.${name}`}
                type="number"
                value={String(settings.health?.[name] ?? '')}
                placeholder={usual || foundOf('port')}
                error={errors[`settings.health.${name}`]}
              />
            ))}
          </div>
        </div>
      </details>
      {store.failure && <FailureNotice failure={store.failure} />}
      <div class="row">
        <Button type="submit" kind="primary" isBusy={store.isBusy} why={whyNot('change')}>
          Save
        </Button>
        <span role="status">{said}</span>
      </div>
    </form>
  );
}
