/** DigitalOcean's app spec. */
import { asObjects, asText, valueAt } from '../../readers/shape.ts';
import { isParsed, join, type Parsed, type Repository } from '../../repository.ts';
import type { ServiceKind } from '../../result.ts';
import {
  type DeclarationFile,
  type Declared,
  type PlatformReader,
  workerProcess,
} from '../declaration-file.ts';
import { existingFolder, filesNamed } from '../places.ts';

const engines: Readonly<Record<string, ServiceKind>> = {
  PG: 'postgres',
  MYSQL: 'mysql',
  REDIS: 'redis',
  VALKEY: 'redis',
  MONGODB: 'mongodb',
};

export const digitalOcean: PlatformReader = {
  names: ['.do.yaml'],
  files: specFiles,
  read(file) {
    const { spec } = file.config;
    readSpec(file, isParsed(spec) ? spec : file.config);
  },
};

/** In `.do` at the top, by whatever name the template has there. */
function* specFiles(repository: Repository): Generator<string> {
  for (const top of new Set(['', repository.root])) {
    const folder = join(top, '.do');
    for (const name of repository.directory(folder)?.files ?? [])
      if (/\.ya?ml$/.test(name)) yield join(folder, name);
  }
  yield* filesNamed(repository, digitalOcean.names);
}

function readSpec(file: DeclarationFile, spec: Parsed): void {
  const release = asObjects(spec.jobs).find(({ kind }) => kind === 'PRE_DEPLOY')?.run_command;
  for (const service of asObjects(spec.services))
    readPart(file, service, { name: service.name, start: service.run_command, release });
  for (const site of asObjects(spec.static_sites))
    readPart(file, site, {
      name: site.name,
      output: site.output_dir ?? site.source_dir_output,
      isSinglePage: asText(site.catchall_document)?.endsWith('index.html') || undefined,
    });
  for (const worker of asObjects(spec.workers)) {
    const process = workerProcess(asText(worker.name) ?? 'worker', worker.run_command);
    if (process) readPart(file, worker, { processes: [process] });
  }
  for (const database of asObjects(spec.databases)) {
    const kind = engines[asText(database.engine)?.toUpperCase() ?? 'PG'];
    if (kind) file.service(kind, `database ${asText(database.name) ?? ''}`, database.version, topOf(file));
  }
  readVariables(file, spec, topOf(file));
}

/** Folders are counted from the root of the repository; a spec inside of the root directory takes that for it. */
function topOf({ repository: { root }, path }: DeclarationFile): string {
  return path.startsWith(join(root, '.do/')) ? root : '';
}

function readPart(file: DeclarationFile, part: Parsed, special: Declared): void {
  const directory = existingFolder(file.repository, topOf(file), asText(part.source_dir)?.replace(/^\//, ''));
  if (directory === undefined || part.image !== undefined) return;
  file.declare({
    directory,
    build: part.build_command,
    port: part.http_port,
    health: valueAt(part, 'health_check', 'http_path'),
    dockerfile: file.file(part.dockerfile_path, topOf(file)),
    ...special,
  });
  readVariables(file, part, directory);
}

function readVariables(file: DeclarationFile, owner: Parsed, directory: string): void {
  for (const { key, value, scope, type } of asObjects(owner.envs)) {
    const isSecret = type === 'SECRET';
    const isFromDatabase =
      /^\$\{[\w-]{1,60}\.(?:DATABASE_URL|HOSTNAME|PORT|USERNAME|PASSWORD|DATABASE)\}$/.test(
        asText(value) ?? '',
      );
    file.variable(
      key,
      {
        ...(isSecret ? { secret: true, required: true } : { value }),
        ...(isFromDatabase ? { given: 'service' } : {}),
        build: scope === 'BUILD_TIME' || scope === 'RUN_AND_BUILD_TIME',
      },
      { directory },
    );
  }
}
