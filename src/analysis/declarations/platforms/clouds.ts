/** Google App Engine (app.yaml), Cloud Foundry (manifest.yml), AWS App Runner (apprunner.yaml). */
import { asMany, asObjects, asText, valueAt } from '../../readers/shape.ts';
import { joinedCommands } from '../commands.ts';
import type { PlatformReader } from '../declaration-file.ts';

export const appEngine: PlatformReader = {
  names: ['app.yaml', 'app.yml'],
  read(file) {
    const { config } = file;
    const runtime = asText(config.runtime);
    if (runtime === undefined) return;
    const [, tool = '', digits = ''] = /^(nodejs|python|go|ruby|java|php)(\d{1,4})$/.exec(runtime) ?? [];
    const glued = /^(?:python|go|php|ruby)$/.test(tool) && digits.length > 1;
    const version = glued ? `${digits[0]}.${digits.slice(1)}` : digits;
    file.declare({
      start: config.entrypoint,
      health: valueAt(config, 'readiness_check', 'path') ?? valueAt(config, 'liveness_check', 'path'),
      versions: tool === '' || version === '' ? {} : { [tool === 'nodejs' ? 'node' : tool]: version },
    });
    file.variables(config.env_variables);
  },
};

export const cloudFoundry: PlatformReader = {
  names: ['manifest.yml', 'manifest.yaml'],
  read(file) {
    for (const app of asObjects(file.config.applications)) {
      const path = asText(app.path);
      // A path to an archive names what the build makes, not a folder of sources.
      const directory = file.folder(path !== undefined && /\.\w{2,4}$/.test(path) ? '' : path);
      if (directory === undefined) continue;
      const health = app['health-check-http-endpoint'];
      file.declare({ directory, name: app.name, start: app.command, health });
      file.variables(app.env, { directory });
    }
  },
};

export const appRunner: PlatformReader = {
  names: ['apprunner.yaml'],
  read(file) {
    const { config } = file;
    file.declare({
      build: joinedCommands(valueAt(config, 'build', 'commands', 'build')),
      start: valueAt(config, 'run', 'command'),
      port: valueAt(config, 'run', 'network', 'port'),
    });
    for (const each of asMany(valueAt(config, 'run', 'env')))
      file.variable(valueAt(each, 'name'), { value: valueAt(each, 'value') });
  },
};
