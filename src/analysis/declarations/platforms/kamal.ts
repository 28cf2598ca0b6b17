/** Kamal's config/deploy.yml and CapRover's captain-definition. */
import { asEntries, asObject, asText, asTexts, valueAt } from '../../readers/shape.ts';
import { parentOf } from '../../repository.ts';
import { type PlatformReader, workerProcess } from '../declaration-file.ts';
import { serviceOfImage } from '../images.ts';
import { existingFolder } from '../places.ts';

export const kamal: PlatformReader = {
  names: ['deploy.yml'],
  read(file) {
    const { config, repository } = file;
    if (!/(?:^|\/)config\/deploy\.yml$/.test(file.path)) return;
    if (asText(config.service) === undefined || config.image === undefined) return;
    const top = parentOf(file.directory) ?? '';
    const [proxy, builder, env] = [asObject(config.proxy), asObject(config.builder), asObject(config.env)];
    const old = asObject(config.healthcheck);
    const directory = existingFolder(repository, top, asText(builder.context)) ?? top;
    const roles = asEntries(config.servers).filter(([name]) => name !== 'web');
    file.declare({
      directory,
      start: valueAt(config, 'servers', 'web', 'cmd'),
      port: proxy.app_port ?? old.port,
      health: valueAt(proxy, 'healthcheck', 'path') ?? old.path,
      dockerfile: file.file(builder.dockerfile, top) ?? file.file('Dockerfile', top),
      volumes: asTexts(config.volumes).map(mountedFolder),
      processes: roles.map(([name, role]) => workerProcess(name, valueAt(role, 'cmd'))),
    });
    const isParted = env.clear !== undefined || env.secret !== undefined;
    file.variables(isParted ? env.clear : env, { directory });
    for (const secret of asTexts(env.secret)) {
      const key = secret.split(':')[0];
      if (key !== 'KAMAL_REGISTRY_PASSWORD')
        file.variable(key, { secret: true, required: true }, { directory });
    }
    for (const [name, accessory] of asEntries(config.accessories)) {
      const service = serviceOfImage(asText(valueAt(accessory, 'image')) ?? '');
      if (service) file.service(service.kind, `accessory ${name}`, service.version, directory);
    }
  },
};

/** `storage:/rails/storage` keeps data; `/host/path:/path` does too. */
function mountedFolder(mount: string): string | undefined {
  return /^[^:]{1,200}:(\/[^:]{1,200})(?::\w{1,10})?$/.exec(mount)?.[1];
}

export const capRover: PlatformReader = {
  names: ['captain-definition'],
  read(file) {
    const dockerfile = file.file(file.config.dockerfilePath);
    if (dockerfile) file.declare({ dockerfile });
  },
};
