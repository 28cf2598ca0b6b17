/**
 * Compose files. A service that is built here is an app, and says its port, command and variables; one of a known
 * database's image is a service of ours. The files for development and the like only tell which databases there are.
 */
import { type ComposeService, readCompose } from '../readers/compose.ts';
import { parseDockerfile } from '../readers/dockerfile.ts';
import { join, nameOf, parentOf, type Repository } from '../repository.ts';
import type { Process } from '../result.ts';
import { isAnalysed } from '../variables/analysed-folders.ts';
import { isLocal } from '../variables/values.ts';
import { mentioned } from '../variables/variable.ts';
import { commandOf, isForDevelopment } from './commands.ts';
import { DeclarationFile, type DeclarationFindings, precedence, workerProcess } from './declaration-file.ts';
import { healthPathIn } from './dockerfiles.ts';
import { serviceOfImage } from './images.ts';
import { hasManifest, tooLarge } from './places.ts';

const fileName = /^(?:docker-)?compose(?:[.-]([\w.-]{1,40}))?\.ya?ml$/;

export function readComposeFiles(repository: Repository, findings: DeclarationFindings): void {
  for (const [folder, { files }] of repository.directories) {
    if (!isAnalysed(repository, folder)) continue;
    for (const name of [...files].filter((each) => fileName.test(each)).sort()) {
      const variant = fileName.exec(name)?.[1] ?? '';
      if (/test|ci|e2e|bench|monitor|override/i.test(variant)) continue;
      const path = join(folder, name);
      const large = tooLarge(repository, path);
      if (large) findings.warnings.push(large);
      const config = large ? undefined : repository.yaml(path);
      if (!config) continue;
      const own = precedence.compose + (variant === '' ? 0 : 0.01);
      const file = new DeclarationFile(repository, path, config, findings, own);
      const services = readCompose(config).filter(
        ({ profiles, name: service }) => ![...profiles, service].some((each) => /test/i.test(each)),
      );
      const apps = placed(file, services);
      readServices(file, services, apps);
      if (variant === '' || /prod/i.test(variant)) readApps(file, services, apps);
    }
  }
}

interface Placed {
  readonly service: ComposeService;
  readonly directory: string;
  readonly dockerfile: string | undefined;
}

function placed(file: DeclarationFile, services: readonly ComposeService[]): readonly Placed[] {
  return services.flatMap((service) => {
    const context = service.build && file.folder(service.build.context);
    if (context === undefined) return [];
    const dockerfile = dockerfileOf(file, service);
    if (databaseIn(file.repository, dockerfile)) return [];
    const own = dockerfile === undefined ? context : (parentOf(dockerfile) ?? '');
    return [{ service, directory: hasManifest(file.repository, own) ? own : context, dockerfile }];
  });
}

function dockerfileOf(file: DeclarationFile, { build }: ComposeService): string | undefined {
  const context = build && file.folder(build.context);
  return context === undefined ? undefined : file.file(build?.dockerfile ?? 'Dockerfile', context);
}

function databaseIn(repository: Repository, dockerfile: string | undefined) {
  const file =
    dockerfile === undefined ? undefined : repository.parsed(dockerfile, 'dockerfile', parseDockerfile);
  return serviceOfImage(file?.stages.at(-1)?.image ?? '');
}

function readServices(
  file: DeclarationFile,
  services: readonly ComposeService[],
  apps: readonly Placed[],
): void {
  for (const service of services) {
    const { name, image } = service;
    const found = service.build
      ? databaseIn(file.repository, dockerfileOf(file, service))
      : serviceOfImage(image ?? '');
    if (!found) continue;
    const users = apps
      .filter((app) => app.service.dependsOn.includes(name))
      .map(({ directory }) => directory);
    const isOfAnother =
      users.length === 0 &&
      services.some(
        (each) =>
          !each.build && each.image !== undefined && !isTool(each.image) && each.dependsOn.includes(name),
      );
    // The database of a foreign program beside the app (a Keycloak's, say) is not the app's.
    if (isOfAnother && apps.length > 0) continue;
    for (const directory of new Set(users.length > 0 ? users : [file.directory]))
      file.service(found.kind, `service ${name}: ${image ?? 'built here'}`, found.version, directory);
  }
}

/** Pages to look into a database; they use what the app uses. */
function isTool(image: string): boolean {
  return /adminer|pgadmin|phpmyadmin|mongo-express|redis-?commander|redisinsight|exporter/i.test(image);
}

function readApps(file: DeclarationFile, services: readonly ComposeService[], apps: readonly Placed[]): void {
  const names = new Set(services.map(({ name }) => name));
  for (const [directory, group] of Map.groupBy(apps, (each) => each.directory)) {
    const web = group.find(({ service }) => service.ports.length > 0) ?? group[0];
    if (!web) continue;
    file.declare({
      directory,
      start: startOf(web.service),
      port: web.service.ports[0],
      health: healthPathIn(web.service.healthcheck ?? ''),
      dockerfile: web.dockerfile,
      volumes: web.service.volumes,
      processes: group.filter((each) => each !== web).map(({ service }) => workerOf(service)),
    });
    for (const { service } of group) readVariables(file, directory, service, names);
  }
}

function startOf(service: ComposeService): string | undefined {
  const command = commandOf(service.command) ?? commandOf(service.entrypoint);
  return command === undefined || isForDevelopment(command) ? undefined : command;
}

function workerOf(service: ComposeService): Process | undefined {
  const { name, ports } = service;
  if (/migrat|seed|init|setup/.test(name) || ports.length > 0) return undefined;
  return workerProcess(name, startOf(service));
}

function readVariables(
  file: DeclarationFile,
  directory: string,
  service: ComposeService,
  names: ReadonlySet<string>,
): void {
  const settings = [
    ...service.environment.map((setting) => ({ ...setting, build: undefined })),
    ...(service.build?.args ?? []).map((setting) => ({ ...setting, build: true })),
  ];
  for (const { key, value, required, build } of settings) {
    // An address inside the compose network, or of a developer's machine, is good nowhere else.
    const isInner = value !== undefined && (isLocal(value) || names.has(hostOf(value)));
    const variable = mentioned({
      key,
      directory,
      source: { file: file.path, note: `${key} of service ${service.name}` },
      value: isInner ? undefined : value,
      required: required || isInner ? true : undefined,
      build,
    });
    if (variable) file.findings.variables.push(variable);
  }
}

function hostOf(value: string): string {
  return (
    /^(?:[a-z][a-z0-9+.-]{0,20}:\/\/)?(?:[^\s@/]{0,200}@)?([\w.-]{1,100})(?:[:/?]|$)/i.exec(value)?.[1] ??
    nameOf(value)
  );
}
