/**
 * Compose files. A service that is built here is an app, and says its port, command and variables; one of a known
 * database's image is a service of ours. The files for development and the like only tell which databases there are.
 */
import type { DeclarationReader } from '../detector.ts';
import { type ComposeService, readCompose } from '../readers/compose.ts';
import { parseDockerfile } from '../readers/dockerfile.ts';
import { join, nameOf, type Repository } from '../repository.ts';
import type { Process } from '../result.ts';
import { lookedAt } from '../variables/looked-at.ts';
import { isLocal } from '../variables/values.ts';
import { mentioned } from '../variables/variable.ts';
import { commandOf, isForDevelopment } from './commands.ts';
import { declare } from './declare.ts';
import { healthPathIn } from './dockerfiles.ts';
import { serviceOfImage } from './images.ts';
import { existingFile, existingFolder, folderOfFile, hasManifest, isTooLarge } from './places.ts';
import { type Heard, nothingHeard, strengths } from './strengths.ts';

const fileName = /^(?:docker-)?compose(?:[.-]([\w.-]{1,40}))?\.ya?ml$/;

export const composeReader: DeclarationReader = {
  name: 'compose',
  read(repository) {
    const heard = nothingHeard();
    for (const [folder, { files }] of repository.directories) {
      if (!lookedAt(repository, folder)) continue;
      for (const name of [...files].filter((each) => fileName.test(each)).sort()) {
        const variant = fileName.exec(name)?.[1] ?? '';
        if (/test|ci|e2e|bench|monitor|override/i.test(variant)) continue;
        const file = join(folder, name);
        const config = isTooLarge(repository, file) ? undefined : repository.yaml(file);
        if (!config) continue;
        const services = readCompose(config).filter(
          ({ profiles, name: service }) => ![...profiles, service].some((each) => /test/i.test(each)),
        );
        const isForRunning = variant === '' || /prod/i.test(variant);
        readServices(repository, file, services, heard);
        if (isForRunning) readApps(repository, file, services, variant === '' ? 0 : 0.01, heard);
      }
    }
    return heard;
  },
};

interface Placed {
  readonly service: ComposeService;
  readonly directory: string;
  readonly dockerfile: string | undefined;
}

function placed(
  repository: Repository,
  file: string,
  services: readonly ComposeService[],
): readonly Placed[] {
  return services.flatMap((service) => {
    const { build } = service;
    if (!build) return [];
    const context = existingFolder(repository, folderOfFile(file), build.context);
    if (context === undefined) return [];
    const dockerfile = existingFile(repository, context, build.dockerfile ?? 'Dockerfile');
    if (databaseIn(repository, dockerfile)) return [];
    const own = dockerfile === undefined ? undefined : folderOfFile(dockerfile);
    const directory = own !== undefined && own !== context && hasManifest(repository, own) ? own : context;
    return [{ service, directory, dockerfile }];
  });
}

function databaseIn(repository: Repository, dockerfile: string | undefined) {
  const file =
    dockerfile === undefined ? undefined : repository.parsed(dockerfile, 'dockerfile', parseDockerfile);
  return serviceOfImage(file?.stages.at(-1)?.image ?? '');
}

function readServices(
  repository: Repository,
  file: string,
  services: readonly ComposeService[],
  heard: Heard,
): void {
  const apps = placed(repository, file, services);
  for (const service of services) {
    const context = service.build && existingFolder(repository, folderOfFile(file), service.build.context);
    const dockerfile =
      context === undefined
        ? undefined
        : existingFile(repository, context, service.build?.dockerfile ?? 'Dockerfile');
    const found = service.build ? databaseIn(repository, dockerfile) : serviceOfImage(service.image ?? '');
    if (!found) continue;
    const users = apps
      .filter((app) => app.service.dependsOn.includes(service.name))
      .map(({ directory }) => directory);
    const isOfAnother =
      users.length === 0 &&
      services.some(
        ({ build, image, dependsOn }) =>
          !build && image !== undefined && !isTool(image) && dependsOn.includes(service.name),
      );
    // The database of a foreign program beside the app (a Keycloak's, say) is not the app's.
    if (isOfAnother && apps.length > 0) continue;
    const source = { file, note: `service ${service.name}: ${service.image ?? 'built here'}` };
    for (const directory of new Set(users.length > 0 ? users : [folderOfFile(file)]))
      heard.services.push({ ...found, by: 'declared', directory, source });
  }
}

/** Pages to look into a database; they use what the app uses. */
function isTool(image: string): boolean {
  return /adminer|pgadmin|phpmyadmin|mongo-express|redis-?commander|redisinsight|exporter/i.test(image);
}

function readApps(
  repository: Repository,
  file: string,
  services: readonly ComposeService[],
  more: number,
  heard: Heard,
): void {
  const names = new Set(services.map(({ name }) => name));
  for (const [directory, group] of Map.groupBy(
    placed(repository, file, services),
    (each) => each.directory,
  )) {
    const web = group.find(({ service }) => service.ports.length > 0) ?? group[0];
    if (!web) continue;
    const command = startOf(web.service);
    heard.declarations.push(
      declare(repository, {
        file,
        directory,
        strength: strengths.compose + more,
        start: command,
        port: web.service.ports[0],
        health: healthPathIn(web.service.healthcheck ?? ''),
        dockerfile: web.dockerfile,
        volumes: web.service.volumes,
        processes: group.filter((each) => each !== web).map(({ service }) => workerOf(service)),
      }),
    );
    for (const { service } of group) readVariables(file, directory, service, names, heard);
  }
}

function startOf(service: ComposeService): string | undefined {
  const command = commandOf(service.command) ?? commandOf(service.entrypoint);
  return command === undefined || isForDevelopment(command) ? undefined : command;
}

function workerOf(service: ComposeService): Process | undefined {
  const command = startOf(service);
  if (command === undefined || /migrat|seed|init|setup/.test(service.name) || service.ports.length > 0)
    return undefined;
  return { name: service.name, kind: 'worker', command, schedule: null };
}

function readVariables(
  file: string,
  directory: string,
  service: ComposeService,
  names: ReadonlySet<string>,
  heard: Heard,
): void {
  const settings = [
    ...service.environment.map((setting) => ({ setting, build: undefined })),
    ...(service.build?.args ?? []).map((setting) => ({ setting, build: true })),
  ];
  for (const { setting, build } of settings) {
    const { key, value, required } = setting;
    // An address inside the compose network, or of a developer's machine, is good nowhere else.
    const isInner = value !== undefined && (isLocal(value) || names.has(hostOf(value)));
    const variable = mentioned({
      key,
      directory,
      source: { file, note: `${key} of service ${service.name}` },
      value: isInner ? undefined : value,
      required: required || isInner ? true : undefined,
      build,
    });
    if (variable) heard.variables.push(variable);
  }
}

function hostOf(value: string): string {
  return (
    /^(?:[a-z][a-z0-9+.-]{0,20}:\/\/)?(?:[^\s@/]{0,200}@)?([\w.-]{1,100})(?:[:/?]|$)/i.exec(value)?.[1] ??
    nameOf(value)
  );
}
