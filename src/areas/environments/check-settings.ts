/** What a schema cannot say about settings: whether they could ever work, and fit each other and the app. */
import type { App } from '../../analysis/result.ts';
import { type Capacity, forContainers } from '../../engine/capacity.ts';
import { Fault, type FieldError } from '../../fault.ts';
import type { EnvironmentSettings } from './environments.ts';
import { impossibleIn } from './impossible-values.ts';

/** Only what was sent: one that was stored before must not stand in the way of everything else. */
export function checkValues(settings: EnvironmentSettings): void {
  const errors = impossibleIn(settings);
  if (errors.length > 0)
    throw new Fault('invalid_input', 'Some settings could never work.', {
      hint: '`errors` says of each what would be right.',
      errors,
    });
}

export function checkSettings(settings: EnvironmentSettings, app: App | undefined): void {
  const errors = [
    ...volumeErrors(settings),
    ...hiddenAppErrors(settings, app),
    ...processErrors(settings, app),
  ];
  if (errors.length > 0)
    throw new Fault('invalid_input', 'The settings do not fit each other or the app.', { errors });
}

const limited = ['memoryMb', 'cpus', 'buildMemoryMb', 'buildCpus'] as const;

/** Of these settings, what the server cannot give: it would be capped, and nobody would know why. Null: not known yet. */
export function checkLimits(
  settings: EnvironmentSettings,
  changed: readonly string[],
  server: Capacity | null,
): void {
  if (server === null) return;
  const most = forContainers(server);
  const errors = limited
    .filter((key) => changed.includes(key))
    .flatMap((key) => {
      const limit = key.endsWith('emoryMb') ? most.memoryMb : most.cpus;
      if ((settings[key] ?? 0) <= limit) return [];
      return [
        { path: `settings.${key}`, message: `must be at most ${limit}: the server has no more for it` },
      ];
    });
  if (errors.length > 0)
    throw new Fault('invalid_input', 'The settings ask for more than the server has.', {
      hint: 'Ask for less, or choose a larger server. A part of each server is kept for the system.',
      errors,
    });
}

/** Two volumes of one name would be one volume, and of two at one path only one is seen. */
function volumeErrors({ volumes = [] }: EnvironmentSettings): FieldError[] {
  return volumes.flatMap(({ name, path }, index) => {
    const before = volumes.slice(0, index);
    return [
      ...(before.some((each) => each.name === name)
        ? [{ path: `settings.volumes[${index}].name`, message: 'is the name of another volume' }]
        : []),
      ...(before.some((each) => each.path === path)
        ? [{ path: `settings.volumes[${index}].path`, message: 'is the path of another volume' }]
        : []),
    ];
  });
}

/** In an image of ours the app is in /app: a volume over it would keep the first release there for ever. */
function hiddenAppErrors(
  { volumes = [], dockerfilePath }: EnvironmentSettings,
  app: App | undefined,
): FieldError[] {
  if (dockerfilePath || (dockerfilePath === undefined && app?.dockerfile)) return [];
  const home = app === undefined || app.path === '.' || app.path === '' ? '/app' : `/app/${app.path}`;
  return volumes.flatMap(({ path }, index) =>
    home === path || home.startsWith(`${path}/`)
      ? [
          {
            path: `settings.volumes[${index}].path`,
            message: `must not be ${path}, where the app itself is; take a folder in it, such as ${home}/uploads`,
          },
        ]
      : [],
  );
}

function processErrors({ processes = {} }: EnvironmentSettings, app: App | undefined): FieldError[] {
  return Object.entries(processes)
    .filter(
      ([name, { command }]) => command === undefined && !app?.processes.some((each) => each.name === name),
    )
    .map(([name]) => ({
      path: `settings.processes.${name}.command`,
      message: 'is needed, as the analysis found no process of this name',
    }));
}
