/** Render's blueprint: services with their commands, databases, and groups of variables. */
import type { DeclarationReader } from '../detector.ts';
import { asList, asObject, asObjects, asText } from '../readers/shape.ts';
import type { Parsed, Repository } from '../repository.ts';
import type { Process } from '../result.ts';
import { commandOf } from './commands.ts';
import { declare } from './declare.ts';
import { existingFile, existingFolder, filesNamed, folderOfFile } from './places.ts';
import { variableIn, versionsIn } from './platform-variables.ts';
import { type Heard, nothingHeard, strengths } from './strengths.ts';

export const renderReader: DeclarationReader = {
  name: 'render',
  read(repository) {
    const heard = nothingHeard();
    for (const file of filesNamed(repository, ['render.yaml', 'render.yml'])) {
      const blueprint = repository.yaml(file);
      if (!blueprint) continue;
      const environments = asObjects(blueprint.projects).flatMap((each) => asObjects(each.environments));
      const parts = [blueprint, ...environments];
      for (const part of parts) {
        for (const group of asObjects(part.envVarGroups))
          readVariables(group, file, folderOfFile(file), heard);
        for (const database of asObjects(part.databases))
          heard.services.push({
            kind: 'postgres',
            version: asText(database.postgresMajorVersion) ?? null,
            by: 'declared',
            directory: folderOfFile(file),
            source: { file, note: `database ${asText(database.name) ?? ''}`.trim() },
          });
        for (const service of asObjects(part.services)) readService(repository, file, service, heard);
      }
    }
    return heard;
  },
};

function readService(repository: Repository, file: string, service: Parsed, heard: Heard): void {
  const type = asText(service.type) ?? 'web';
  const top = folderOfFile(file);
  if (type === 'redis' || type === 'keyvalue') {
    const source = { file, note: `key value store ${asText(service.name) ?? ''}`.trim() };
    heard.services.push({ kind: 'redis', version: null, by: 'declared', directory: top, source });
    return;
  }
  const runtime = asText(service.runtime) ?? asText(service.env);
  const directory = existingFolder(repository, top, asText(service.rootDir) ?? asText(service.dockerContext));
  if (directory === undefined || runtime === 'image') return;
  const isStatic = type === 'static' || runtime === 'static';
  const isBeside = type === 'worker' || type === 'cron' || type === 'workflow';
  const start = isStatic ? undefined : (service.startCommand ?? service.dockerCommand);
  const dockerfile = existingFile(repository, top, service.dockerfilePath);
  const environment = readVariables(service, file, directory, heard);
  heard.declarations.push(
    declare(repository, {
      file,
      directory,
      strength: strengths.platform,
      name: isBeside ? undefined : service.name,
      build: service.buildCommand,
      ...(isBeside ? { processes: [processOf(type, service, start)] } : { start }),
      release: service.preDeployCommand ?? service.initialDeployHook,
      health: service.healthCheckPath,
      port: environment.PORT,
      dockerfile:
        dockerfile ?? (runtime === 'docker' ? existingFile(repository, directory, 'Dockerfile') : undefined),
      ...(isStatic
        ? { output: service.staticPublishPath, isSinglePage: hasFallback(service) || undefined }
        : {}),
      volumes: [asText(asObject(service.disk).mountPath)],
      versions: versionsIn(environment),
    }),
  );
}

function processOf(type: string, service: Parsed, start: unknown): Process | undefined {
  const command = commandOf(start);
  if (command === undefined) return undefined;
  const schedule = type === 'cron' ? (asText(service.schedule) ?? null) : null;
  return {
    name: asText(service.name) ?? type,
    kind: schedule === null ? 'worker' : 'cron',
    command,
    schedule,
  };
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
function readVariables(
  owner: Parsed,
  file: string,
  directory: string,
  heard: Heard,
): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null);
  for (const entry of asList(owner.envVars).map(asObject)) {
    const key = asText(entry.key);
    if (key === undefined) continue;
    const from = asObject(entry.fromService);
    const isStore =
      entry.fromDatabase !== undefined || /^(?:redis|keyvalue|pserv)$/.test(asText(from.type) ?? '');
    values[key] = entry.value;
    const variable = variableIn(
      key,
      {
        value: entry.value,
        ...(entry.sync === false ? { required: true } : {}),
        ...(entry.generateValue === true
          ? { given: 'generate' as const, secret: true, required: false }
          : {}),
        ...(isStore ? { given: 'service' as const } : {}),
      },
      { file, directory },
    );
    if (variable && Object.keys(versionsIn({ [key]: entry.value })).length === 0)
      heard.variables.push(variable);
  }
  return values;
}
