/** DigitalOcean's app spec. */
import type { DeclarationReader } from '../detector.ts';
import { asObject, asObjects, asText } from '../readers/shape.ts';
import { isParsed, join, type Parsed, type Repository } from '../repository.ts';
import type { ServiceKind } from '../result.ts';
import { commandOf } from './commands.ts';
import { declare } from './declare.ts';
import { existingFile, existingFolder, filesNamed, isTooLarge } from './places.ts';
import { variableIn } from './platform-variables.ts';
import { type Heard, nothingHeard, strengths } from './strengths.ts';

const engines: Readonly<Record<string, ServiceKind>> = {
  PG: 'postgres',
  MYSQL: 'mysql',
  REDIS: 'redis',
  VALKEY: 'redis',
  MONGODB: 'mongodb',
};

export const digitalOceanReader: DeclarationReader = {
  name: 'digitalocean',
  read(repository) {
    const heard = nothingHeard();
    for (const file of specFiles(repository)) {
      const config = repository.yaml(file);
      const spec = isParsed(config?.spec) ? config.spec : config;
      if (spec) readSpec(repository, file, spec, heard);
    }
    return heard;
  },
};

/** In `.do` at the top, by whatever name the template has there. */
function* specFiles(repository: Repository): Generator<string> {
  for (const name of repository.directory('.do')?.files ?? []) {
    if (/\.ya?ml$/.test(name) && !isTooLarge(repository, join('.do', name))) yield join('.do', name);
  }
  yield* filesNamed(repository, ['.do.yaml']);
}

function readSpec(repository: Repository, file: string, spec: Parsed, heard: Heard): void {
  const jobs = asObjects(spec.jobs);
  const release = jobs.find(({ kind }) => kind === 'PRE_DEPLOY')?.run_command;
  for (const service of asObjects(spec.services))
    readPart(repository, file, service, heard, { start: service.run_command, release });
  for (const site of asObjects(spec.static_sites))
    readPart(repository, file, site, heard, {
      output: site.output_dir ?? site.source_dir_output,
      isSinglePage: asText(site.catchall_document)?.endsWith('index.html') || undefined,
    });
  for (const worker of asObjects(spec.workers)) {
    const command = commandOf(worker.run_command);
    const name = asText(worker.name) ?? 'worker';
    if (command !== undefined)
      readPart(repository, file, worker, heard, {
        processes: [{ name, kind: 'worker', command, schedule: null }],
      });
  }
  for (const database of asObjects(spec.databases)) {
    const kind = engines[asText(database.engine)?.toUpperCase() ?? 'PG'];
    const source = { file, note: `database ${asText(database.name) ?? ''}`.trim() };
    const version = asText(database.version) ?? null;
    if (kind) heard.services.push({ kind, version, by: 'declared', directory: '', source });
  }
  readVariables(spec, file, '', heard);
}

type Special = Omit<Parameters<typeof declare>[1], 'file' | 'directory' | 'strength'>;

function readPart(repository: Repository, file: string, part: Parsed, heard: Heard, special: Special): void {
  const directory = existingFolder(repository, '', asText(part.source_dir));
  if (directory === undefined || part.image !== undefined) return;
  const isBeside = special.processes !== undefined;
  heard.declarations.push(
    declare(repository, {
      file,
      directory,
      strength: strengths.platform,
      ...(isBeside ? {} : { name: part.name }),
      build: part.build_command,
      port: part.http_port,
      health: asObject(part.health_check).http_path,
      dockerfile: existingFile(repository, '', part.dockerfile_path),
      ...special,
    }),
  );
  readVariables(part, file, directory, heard);
}

function readVariables(owner: Parsed, file: string, directory: string, heard: Heard): void {
  for (const { key, value, scope, type } of asObjects(owner.envs)) {
    const text = asText(value);
    const isFromDatabase =
      text !== undefined &&
      /^\$\{[\w-]{1,60}\.(?:DATABASE_URL|HOSTNAME|PORT|USERNAME|PASSWORD|DATABASE)\}$/.test(text);
    const variable = variableIn(
      key,
      {
        value: type === 'SECRET' ? undefined : value,
        ...(type === 'SECRET' ? { secret: true, required: true } : {}),
        ...(isFromDatabase ? { given: 'service' as const } : {}),
        build: scope === 'BUILD_TIME' || scope === 'RUN_AND_BUILD_TIME',
      },
      { file, directory },
    );
    if (variable) heard.variables.push(variable);
  }
}
