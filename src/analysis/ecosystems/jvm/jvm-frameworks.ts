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

function framework(
  name: string,
  marks: readonly string[],
  port: number,
  key?: string,
  health?: JvmFramework['health'],
): JvmFramework {
  return { name, marks, port, ...(key === undefined ? {} : { key }), ...(health ? { health } : {}) };
}

export const jvmFrameworks: readonly JvmFramework[] = [
  framework('quarkus', ['io.quarkus'], 8080, 'quarkus.http.port', ['smallrye-health', '/q/health']),
  framework('micronaut', ['io.micronaut'], 8080, 'micronaut.server.port', [
    'micronaut-management',
    '/health',
  ]),
  framework('grails', ['org.grails', 'org.apache.grails'], 8080, 'server.port'),
  framework('jhipster', ['tech.jhipster'], 8080, 'server.port', ['actuator', '/management/health']),
  framework('spring-boot', ['org.springframework.boot', 'spring-boot'], 8080, 'server.port', [
    'actuator',
    '/actuator/health',
  ]),
  framework('ktor', ['io.ktor'], 8080, 'ktor.deployment.port'),
  framework('helidon', ['io.helidon'], 8080, 'server.port', ['helidon-health', '/health']),
  framework(
    'play',
    ['com.typesafe.play', 'org.playframework', 'playscala', 'playjava'],
    9000,
    'play.server.http.port',
  ),
  framework('dropwizard', ['io.dropwizard'], 8080),
  framework('vertx', ['io.vertx'], 8888),
  framework('javalin', ['io.javalin'], 8080),
  framework('spark', ['com.sparkjava', 'spark-core:2', 'spark-kotlin'], 4567),
  framework('jooby', ['io.jooby'], 8080),
  framework('ratpack', ['io.ratpack'], 5050),
  framework('http4k', ['org.http4k'], 8000),
  framework('http4s', ['org.http4s'], 8080),
  framework('zio-http', ['zio-http'], 8080),
  framework('akka-http', ['akka-http'], 8080),
  framework('pekko-http', ['pekko-http'], 8080),
  framework('tapir', ['com.softwaremill.sttp.tapir'], 8080),
  framework('finatra', ['finatra'], 8888),
  framework('cask', ['com.lihaoyi:cask', '"cask"'], 8080),
  framework('scalatra', ['org.scalatra'], 8080),
  framework('open-liberty', ['io.openliberty'], 9080),
  framework('jetty', ['org.eclipse.jetty:jetty-server', 'jetty-servlet'], 8080),
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

export function jvmConfigFiles(project: Project): readonly string[] {
  return configFiles.filter((name) => project.has(name)).map((name) => project.at(name));
}

/** The value of a dotted key in properties, YAML or HOCON. */
export function jvmSetting(
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
  const context = jvmSetting(repository, configs, 'server.servlet.context-path')?.value ?? '';
  const base = jvmSetting(repository, configs, 'management.endpoints.web.base-path')?.value;
  const own = base === undefined ? path : `${base.replace(/\/$/, '')}/health`;
  const full = `${/^\/[\w/-]+$/.test(context) ? context.replace(/\/$/, '') : ''}${own}`;
  return evidenced(full, conventional, file, mark);
}
