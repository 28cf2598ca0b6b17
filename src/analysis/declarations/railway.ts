/** Railway's file, in either of its notations, with what it says of production laid over what it says in general. */
import type { DeclarationReader } from '../detector.ts';
import { asMany, asObject, asText } from '../readers/shape.ts';
import type { Parsed } from '../repository.ts';
import { commandOf } from './commands.ts';
import { declare } from './declare.ts';
import { existingFile, filesNamed, folderOfFile } from './places.ts';
import { nothingHeard, strengths } from './strengths.ts';

const names = ['railway.json', 'railway.toml', '.railway/railway.json'];

export const railwayReader: DeclarationReader = {
  name: 'railway',
  read(repository) {
    const heard = nothingHeard();
    for (const file of filesNamed(repository, names)) {
      const config = file.endsWith('.toml') ? repository.toml(file) : repository.json(file);
      if (!config) continue;
      const production = asObject(asObject(config.environments).production);
      const build: Parsed = { ...asObject(config.build), ...asObject(production.build) };
      const deploy: Parsed = { ...asObject(config.deploy), ...asObject(production.deploy) };
      const start = commandOf(deploy.startCommand);
      const schedule = asText(deploy.cronSchedule);
      const release = asMany(deploy.preDeployCommand).flatMap((line) => commandOf(line) ?? []);
      const directory = folderOfFile(file);
      const isDocker = asText(build.builder)?.toUpperCase() === 'DOCKERFILE';
      heard.declarations.push(
        declare(repository, {
          file,
          directory,
          strength: strengths.platform,
          build: build.buildCommand,
          release: release.length === 0 ? undefined : release.join(' && '),
          health: deploy.healthcheckPath,
          dockerfile: existingFile(
            repository,
            directory,
            build.dockerfilePath ?? (isDocker ? 'Dockerfile' : undefined),
          ),
          ...(schedule === undefined || start === undefined
            ? { start }
            : { processes: [{ name: 'cron', kind: 'cron' as const, command: start, schedule }] }),
        }),
      );
      if (schedule !== undefined && start === undefined)
        repository.warn(
          'cron_without_command',
          `${file} has a schedule, but no command that is to run`,
          file,
        );
    }
    return heard;
  },
};
