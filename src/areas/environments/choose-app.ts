/** From the analysis to an environment: which of its apps is meant, and the secrets that are made for it. */
import { randomBytes } from 'node:crypto';
import type { AnalysisResult, App } from '../../analysis/result.ts';
import { Fault } from '../../fault.ts';
import type { EnvironmentSettings } from './environments.ts';
import type { NewVariable } from './variables/put-variables.ts';

/** The one that is named, or the only one; none where the user says how it starts. */
export function chooseApp(
  { apps }: AnalysisResult,
  named: string | undefined,
  field: string,
  settings: EnvironmentSettings = {},
): App | undefined {
  const paths = apps.map(({ path }) => path);
  if (named !== undefined) {
    const chosen = apps.find(({ path }) => path === named);
    if (chosen) return chosen;
    throw wrongApp(field, `is none of the apps that were found: ${paths.join(', ') || 'there are none'}`);
  }
  if (apps.length === 1) return apps[0];
  if (apps.length > 1)
    throw wrongApp(field, `must name one of the apps that were found: ${paths.join(', ')}`);
  if (settings.startCommand || settings.dockerfilePath || settings.staticOutput) return undefined;
  throw new Fault('invalid_input', 'Nothing was found that could be run, and nothing says how to run it.', {
    errors: [{ path: 'settings.startCommand', message: 'is needed, or `dockerfilePath`, or `staticOutput`' }],
  });
}

/** Of 64 characters, because some frameworks refuse shorter ones; Laravel wants exactly 32 bytes, and says so. */
export function generatedVariables({ variables }: AnalysisResult, app: App | undefined): NewVariable[] {
  return variables
    .filter(({ given, apps }) => given === 'generate' && (!app || apps.includes(app.path)))
    .map(({ key, build }) => ({
      key,
      value:
        key === 'APP_KEY' && app?.framework === 'laravel'
          ? `base64:${randomBytes(32).toString('base64')}`
          : randomBytes(48).toString('base64url'),
      secret: true,
      target: build ? 'both' : 'runtime',
    }));
}

function wrongApp(path: string, message: string): Fault {
  return new Fault('invalid_input', 'It is not clear which app is meant.', { errors: [{ path, message }] });
}
