/** Railway's file, in either of its notations, with what it says of production laid over what it says in general. */
import { asText, objectAt } from '../../readers/shape.ts';
import type { Parsed } from '../../repository.ts';
import { commandOf, joinedCommands } from '../commands.ts';
import type { PlatformReader } from '../declaration-file.ts';

export const railway: PlatformReader = {
  names: ['railway.json', 'railway.toml', '.railway/railway.json'],
  read(file) {
    const { config, path } = file;
    const production = objectAt(config, 'environments', 'production');
    const build: Parsed = { ...objectAt(config, 'build'), ...objectAt(production, 'build') };
    const deploy: Parsed = { ...objectAt(config, 'deploy'), ...objectAt(production, 'deploy') };
    const start = commandOf(deploy.startCommand);
    const schedule = asText(deploy.cronSchedule);
    const isDocker = asText(build.builder)?.toUpperCase() === 'DOCKERFILE';
    file.declare({
      build: build.buildCommand,
      release: joinedCommands(deploy.preDeployCommand),
      health: deploy.healthcheckPath,
      dockerfile: file.file(build.dockerfilePath ?? (isDocker ? 'Dockerfile' : undefined)),
      ...(schedule === undefined || start === undefined
        ? { start }
        : { processes: [{ name: 'cron', kind: 'cron', command: start, schedule }] }),
    });
    if (schedule !== undefined && start === undefined) {
      const message = `${path} has a schedule, but no command that is to run`;
      file.warn('cron_without_command', message);
    }
  },
};
