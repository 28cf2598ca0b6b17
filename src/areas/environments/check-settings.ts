/** What a schema cannot say about settings: whether their parts fit each other and the app. */
import type { App } from '../../analysis/result.ts';
import { Fault, type FieldError } from '../../fault.ts';
import type { EnvironmentSettings } from './environments.ts';

export function checkSettings(settings: EnvironmentSettings, app: App | undefined): void {
  const errors = [...volumeErrors(settings), ...processErrors(settings, app)];
  if (errors.length > 0)
    throw new Fault('invalid_input', 'The settings do not fit each other or the app.', { errors });
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
