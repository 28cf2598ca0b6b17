/** Frameworks of the JVM, by what stands in build files, with their port and the path of their health check. */

import { certain, conventional, type Evidenced, evidenced } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { valueAt } from '../../readers/shape.ts';
import { parseYaml } from '../../readers/yaml.ts';
import { isParsed, type Repository } from '../../repository.ts';

export interface JvmFramework {
  readonly name: string;
  /** Any of these in a coordinate, a plugin or a dependency line. */
  readonly marks: readonly string[];
  readonly port: number | null;
  /** The key of the port in configuration. */
  readonly key?: string;
  readonly health?: readonly [mark: string, path: string];
}

export const jvmFrameworks: readonly JvmFramework[] = [
  {
    name: 'quarkus',
    marks: ['io.quarkus'],
    port: 8080,
    key: 'quarkus.http.port',
    health: ['smallrye-health', '/q/health'],
  },
  {
    name: 'micronaut',
    marks: ['io.micronaut'],
    port: 8080,
    key: 'micronaut.server.port',
    health: ['micronaut-management', '/health'],
  },
  { name: 'grails', marks: ['org.grails', 'org.apache.grails'], port: 8080, key: 'server.port' },
  {
    name: 'jhipster',
    marks: ['tech.jhipster'],
    port: 8080,
    key: 'server.port',
    health: ['actuator', '/management/health'],
  },
  {
    name: 'spring-boot',
    marks: ['org.springframework.boot', 'spring-boot'],
    port: 8080,
    key: 'server.port',
    health: ['actuator', '/actuator/health'],
  },
  { name: 'ktor', marks: ['io.ktor'], port: 8080, key: 'ktor.deployment.port' },
  {
    name: 'helidon',
    marks: ['io.helidon'],
    port: 8080,
    key: 'server.port',
    health: ['helidon-health', '/health'],
  },
  {
    name: 'play',
    marks: ['com.typesafe.play', 'org.playframework', 'playscala', 'playjava'],
    port: 9000,
    key: 'play.server.http.port',
  },
  { name: 'dropwizard', marks: ['io.dropwizard'], port: 8080 },
  { name: 'vertx', marks: ['io.vertx'], port: 8888 },
  { name: 'javalin', marks: ['io.javalin'], port: 8080 },
  { name: 'spark', marks: ['com.sparkjava', 'spark-core:2', 'spark-kotlin'], port: 4567 },
  { name: 'jooby', marks: ['io.jooby'], port: 8080 },
  { name: 'ratpack', marks: ['io.ratpack'], port: 5050 },
  { name: 'http4k', marks: ['org.http4k'], port: 8000 },
  { name: 'http4s', marks: ['org.http4s'], port: 8080 },
  { name: 'zio-http', marks: ['zio-http'], port: 8080 },
  { name: 'akka-http', marks: ['akka-http'], port: 8080 },
  { name: 'pekko-http', marks: ['pekko-http'], port: 8080 },
  { name: 'tapir', marks: ['com.softwaremill.sttp.tapir'], port: 8080 },
  { name: 'finatra', marks: ['finatra'], port: 8888 },
  { name: 'cask', marks: ['com.lihaoyi:cask', '"cask"'], port: 8080 },
  { name: 'scalatra', marks: ['org.scalatra'], port: 8080 },
  { name: 'open-liberty', marks: ['io.openliberty'], port: 9080 },
  { name: 'jetty', marks: ['org.eclipse.jetty:jetty-server', 'jetty-servlet'], port: 8080 },
];

/** Configuration of the app, the one for production first. */
const configFiles = [
  'application-prod',
  'application-production',
  'application',
  'microprofile-config',
].flatMap((name) =>
  ['properties', 'yml', 'yaml', 'conf'].flatMap((ending) => [
    `src/main/resources/${name}.${ending}`,
    `src/main/resources/META-INF/${name}.${ending}`,
    `src/main/resources/config/${name}.${ending}`,
    `conf/${name}.${ending}`,
    `grails-app/conf/${name}.${ending}`,
  ]),
);

export function configOf(project: Project): readonly string[] {
  return configFiles.filter((name) => project.has(name)).map((name) => project.at(name));
}

/** The value of a dotted key in properties, YAML or HOCON. */
export function setting(
  repository: Repository,
  files: readonly string[],
  key: string,
): Evidenced<string> | undefined {
  for (const file of files) {
    const value = file.endsWith('.properties')
      ? repository.capture(file, new RegExp(String.raw`^\s*${key.replaceAll('.', '\\.')}\s*[=:]\s*(\S.*)$`))
      : file.endsWith('.conf')
        ? hocon(repository, file, key)
        : inYaml(repository, file, key);
    if (value !== undefined)
      return evidenced(value.trim(), certain, file, `${key} ${value.trim().slice(0, 40)}`);
  }
  return undefined;
}

function inYaml(repository: Repository, file: string, key: string): string | undefined {
  // Several documents in one file are profiles; the first is for all.
  const flat = repository.parsed(file, 'first document', (text) =>
    parseYaml(text.split(/^---\s*$/m).find((part) => part.trim() !== '') ?? ''),
  );
  if (isParsed(flat) && Object.hasOwn(flat, key)) return String(flat[key]);
  const at = valueAt(flat, ...key.split('.'));
  return typeof at === 'string' || typeof at === 'number' ? String(at) : undefined;
}

/** Ktor writes the number first and the variable below it. */
function hocon(repository: Repository, file: string, key: string): string | undefined {
  const last = key.split('.').at(-1) ?? key;
  return repository.capture(file, new RegExp(String.raw`^\s*(?:[\w.]+\.)?${last}\s*[=:]\s*(\d+)`));
}

/** `${PORT:8081}` is 8081 where the variable is not set. */
export function settingPort(found: Evidenced<string> | undefined): Evidenced<number> | undefined {
  const digits = found && (/^\d{2,5}$/.exec(found.value)?.[0] ?? /:-?\s*(\d{2,5})\}/.exec(found.value)?.[1]);
  return found && digits
    ? evidenced(Number(digits), certain, found.source.file, found.source.note)
    : undefined;
}

export function healthOf(
  repository: Repository,
  framework: JvmFramework,
  file: string,
  has: (mark: string) => boolean,
  configs: readonly string[],
): Evidenced<string> | undefined {
  if (!framework.health || !has(framework.health[0])) return undefined;
  const [mark, path] = framework.health;
  const context = setting(repository, configs, 'server.servlet.context-path')?.value ?? '';
  const base = setting(repository, configs, 'management.endpoints.web.base-path')?.value;
  const own = base === undefined ? path : `${base.replace(/\/$/, '')}/health`;
  const full = `${/^\/[\w/-]+$/.test(context) ? context.replace(/\/$/, '') : ''}${own}`;
  return evidenced(full, conventional, file, mark);
}
