/** Render's blueprint: services with their commands, databases, and groups of variables. */
import { asObjects, asText, valueAt } from '../../readers/shape.ts';
import type { Parsed } from '../../repository.ts';
import type { Process } from '../../result.ts';
import { type DeclarationFile, type PlatformReader, workerProcess } from '../declaration-file.ts';
import { versionsIn } from '../platform-variables.ts';

export const render: PlatformReader = {
  names: ['render.yaml', 'render.yml'],
  read(file) {
    const environments = asObjects(file.config.projects).flatMap((each) => asObjects(each.environments));
    for (const part of [file.config, ...environments]) {
      for (const group of asObjects(part.envVarGroups)) readVariables(file, group, file.directory);
      for (const database of asObjects(part.databases))
        file.service('postgres', `database ${asText(database.name) ?? ''}`, database.postgresMajorVersion);
      for (const service of asObjects(part.services)) readService(file, service);
    }
  },
};

function readService(file: DeclarationFile, service: Parsed): void {
  const type = asText(service.type) ?? 'web';
  if (type === 'redis' || type === 'keyvalue') {
    file.service('redis', `key value store ${asText(service.name) ?? ''}`);
    return;
  }
  const runtime = asText(service.runtime) ?? asText(service.env);
  const directory = file.folder(asText(service.rootDir) ?? asText(service.dockerContext));
  if (directory === undefined || runtime === 'image') return;
  const isStatic = type === 'static' || runtime === 'static';
  const isBeside = type === 'worker' || type === 'cron' || type === 'workflow';
  const start = isStatic ? undefined : (service.startCommand ?? service.dockerCommand);
  const environment = readVariables(file, service, directory);
  file.declare({
    directory,
    name: isBeside ? undefined : service.name,
    build: service.buildCommand,
    ...(isBeside ? { processes: [processOf(type, service, start)] } : { start }),
    release: service.preDeployCommand ?? service.initialDeployHook,
    health: service.healthCheckPath,
    port: environment.PORT,
    dockerfile:
      file.file(service.dockerfilePath) ??
      (runtime === 'docker' ? file.file('Dockerfile', directory) : undefined),
    ...(isStatic
      ? { output: service.staticPublishPath, isSinglePage: hasFallback(service) || undefined }
      : {}),
    volumes: [asText(valueAt(service, 'disk', 'mountPath'))],
    versions: versionsIn(environment),
  });
}

function processOf(type: string, service: Parsed, start: unknown): Process | undefined {
  const process = workerProcess(asText(service.name) ?? type, start);
  const schedule = type === 'cron' ? asText(service.schedule) : undefined;
  return process && schedule !== undefined ? { ...process, kind: 'cron', schedule } : process;
}

function hasFallback(service: Parsed): boolean {
  return asObjects(service.routes).some(
    (route) =>
      route.type === 'rewrite' &&
      /^\/\*/.test(asText(route.source) ?? '') &&
      /index\.html$/.test(asText(route.destination) ?? ''),
  );
}

/** `sync: false` is asked of the user; `generateValue` is made up; `from…` comes from another service. */
function readVariables(file: DeclarationFile, owner: Parsed, directory: string): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null);
  for (const entry of asObjects(owner.envVars)) {
    const { value } = entry;
    const key = asText(entry.key);
    if (key === undefined) continue;
    values[key] = value;
    if (Object.keys(versionsIn({ [key]: value })).length > 0) continue;
    const from = asText(valueAt(entry, 'fromService', 'type')) ?? '';
    const isStore = entry.fromDatabase !== undefined || /^(?:redis|keyvalue|pserv)$/.test(from);
    file.variable(
      key,
      {
        value,
        ...(entry.sync === false ? { required: true } : {}),
        ...(entry.generateValue === true ? { given: 'generate', secret: true, required: false } : {}),
        ...(isStore ? { given: 'service' } : {}),
      },
      { directory },
    );
  }
  return values;
}
