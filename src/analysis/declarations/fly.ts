/** Fly's file: the port inside, groups of processes, a release command, mounts. */
import type { DeclarationReader } from '../detector.ts';
import { asEntries, asMany, asObject, asObjects, asText } from '../readers/shape.ts';
import type { Parsed } from '../repository.ts';
import type { Process } from '../result.ts';
import { commandOf } from './commands.ts';
import { declare } from './declare.ts';
import { existingFile, filesNamed, folderOfFile } from './places.ts';
import { variablesIn, versionsIn } from './platform-variables.ts';
import { nothingHeard, strengths } from './strengths.ts';

export const flyReader: DeclarationReader = {
  name: 'fly',
  read(repository) {
    const heard = nothingHeard();
    for (const file of filesNamed(repository, ['fly.toml', 'fly.production.toml', 'fly.prod.toml'])) {
      const config = repository.toml(file);
      if (!config) continue;
      const directory = folderOfFile(file);
      const build = asObject(config.build);
      const groups = asEntries(config.processes).flatMap(([name, value]) => {
        const command = commandOf(value);
        return command === undefined ? [] : [{ name, command }];
      });
      const web = groups.find(({ name }) => name === 'web' || name === 'app') ?? groups[0];
      const others = groups.filter((group) => group !== web);
      heard.declarations.push(
        declare(repository, {
          file,
          directory,
          strength: strengths.platform,
          start: web?.command ?? asObject(config.experimental).cmd,
          release: asObject(config.deploy).release_command,
          port: portOf(config),
          health: healthOf(config),
          dockerfile: existingFile(repository, directory, build.dockerfile),
          volumes: asMany(config.mounts).map((mount) => asText(asObject(mount).destination)),
          processes: others.map(
            ({ name, command }): Process => ({ name, kind: 'worker', command, schedule: null }),
          ),
          versions: versionsIn(build.args),
        }),
      );
      heard.variables.push(
        ...variablesIn(config.env, { file, directory }),
        ...variablesIn(build.args, { file, directory, build: true }),
      );
    }
    return heard;
  },
};

function sections(config: Parsed): readonly Parsed[] {
  return [...asMany(config.http_service).map(asObject), ...asObjects(config.services)];
}

function portOf(config: Parsed): unknown {
  return sections(config).find(({ internal_port }) => internal_port !== undefined)?.internal_port;
}

function healthOf(config: Parsed): unknown {
  const checks = sections(config).flatMap((section) => [
    ...asObjects(section.checks),
    ...asObjects(section.http_checks),
  ]);
  const named = asEntries(config.checks).map(([, check]) => asObject(check));
  return [...checks, ...named].find(({ path }) => asText(path) !== undefined)?.path;
}
