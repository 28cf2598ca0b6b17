/** Kamal's config/deploy.yml and CapRover's captain-definition. */
import type { DeclarationReader } from '../detector.ts';
import { asEntries, asList, asObject, asText, asTexts } from '../readers/shape.ts';
import type { Parsed, Repository } from '../repository.ts';
import type { Process } from '../result.ts';
import { commandOf } from './commands.ts';
import { declare } from './declare.ts';
import { serviceOfImage } from './images.ts';
import { existingFile, existingFolder, filesNamed, folderOfFile } from './places.ts';
import { variableIn, variablesIn } from './platform-variables.ts';
import { type Heard, nothingHeard, strengths } from './strengths.ts';

export const kamalReader: DeclarationReader = {
  name: 'kamal',
  read(repository) {
    const heard = nothingHeard();
    for (const file of filesNamed(repository, ['deploy.yml'])) {
      if (!/(?:^|\/)config\/deploy\.yml$/.test(file)) continue;
      const config = repository.yaml(file);
      if (config && asText(config.service) && config.image !== undefined)
        readKamal(repository, file, config, heard);
    }
    for (const file of filesNamed(repository, ['captain-definition'])) {
      const directory = folderOfFile(file);
      const dockerfile = existingFile(repository, directory, repository.json(file)?.dockerfilePath);
      if (dockerfile)
        heard.declarations.push(
          declare(repository, { file, directory, strength: strengths.platform, dockerfile }),
        );
    }
    return heard;
  },
};

function readKamal(repository: Repository, file: string, config: Parsed, heard: Heard): void {
  const top = folderOfFile(folderOfFile(file));
  const [proxy, builder, env] = [asObject(config.proxy), asObject(config.builder), asObject(config.env)];
  const old = asObject(config.healthcheck);
  const directory = existingFolder(repository, top, asText(builder.context)) ?? top;
  const roles = asEntries(config.servers).filter(([name]) => name !== 'web');
  heard.declarations.push(
    declare(repository, {
      file,
      directory,
      strength: strengths.platform,
      start: asObject(asObject(config.servers).web).cmd,
      port: proxy.app_port ?? old.port,
      health: asObject(proxy.healthcheck).path ?? old.path,
      dockerfile:
        existingFile(repository, top, builder.dockerfile) ?? existingFile(repository, top, 'Dockerfile'),
      volumes: asTexts(config.volumes).map(mountedFolder),
      processes: roles.map(([name, role]): Process | undefined => {
        const command = commandOf(asObject(role).cmd);
        return command === undefined ? undefined : { name, kind: 'worker', command, schedule: null };
      }),
    }),
  );
  const isParted = env.clear !== undefined || env.secret !== undefined;
  heard.variables.push(...variablesIn(isParted ? env.clear : env, { file, directory }));
  for (const key of asList(env.secret)) {
    const variable = variableIn(
      asText(key)?.split(':')[0],
      { secret: true, required: true },
      { file, directory },
    );
    if (variable && variable.key !== 'KAMAL_REGISTRY_PASSWORD') heard.variables.push(variable);
  }
  for (const [name, accessory] of asEntries(config.accessories)) {
    const service = serviceOfImage(asText(asObject(accessory).image) ?? '');
    if (service)
      heard.services.push({
        ...service,
        by: 'declared',
        directory,
        source: { file, note: `accessory ${name}` },
      });
  }
}

/** `storage:/rails/storage` keeps data; `/host/path:/path` does too. */
function mountedFolder(mount: string): string | undefined {
  return /^[^:]{1,200}:(\/[^:]{1,200})(?::\w{1,10})?$/.exec(mount)?.[1];
}
