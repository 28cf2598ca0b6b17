/** What a project of the JVM says of itself, whichever tool builds it. */

import { certain, conventional, type Evidenced, evidenced, guessed } from '../../evidence.ts';
import { join, parentOf, type Repository } from '../../repository.ts';
import { findIn, findInAny } from '../code.ts';
import { portInCode } from '../code-port.ts';
import { toolVersion } from '../tool-versions.ts';
import { type JvmFramework, setting, settingPort } from './jvm-frameworks.ts';

export interface JvmProject {
  readonly tool: 'maven' | 'gradle' | 'sbt';
  readonly file: string;
  readonly name: string;
  readonly has: (mark: string) => boolean;
  readonly java: Evidenced<string> | undefined;
  readonly lock: string | undefined;
  readonly toolVersion: string | null;
  /** Where the code lies, if it is not the app's own folder. */
  readonly folder?: string;
}

/** What makes a Spring Boot app listen. */
const webMarks =
  `starter-web webflux starter-jetty starter-undertow starter-tomcat graphql data-rest vaadin websocket
  actuator thymeleaf spring-cloud spring-web`.split(/\s+/);

/** A library of a Spring Boot build has the framework's parent as well, but nothing that starts. */
export function hasMain(repository: Repository, sources: readonly string[]): boolean {
  return (
    findInAny(
      repository,
      sources,
      /SpringApplication|runApplication|SpringBootServletInitializer|\bvoid\s+main\s*\(|\bfun main\s*\(/,
    ) !== undefined
  );
}

export function languageOf(sources: readonly string[], project: JvmProject): string {
  const languages: readonly (readonly [string, string])[] = [
    ['.java', 'java'],
    ['.kt', 'kotlin'],
    ['.scala', 'scala'],
    ['.groovy', 'groovy'],
  ];
  const counted = languages
    .map(([ending, language]) => ({
      language,
      count: sources.filter((path) => path.endsWith(ending)).length,
    }))
    .sort((one, other) => other.count - one.count);
  if (counted[0] && counted[0].count > 0) return counted[0].language;
  return project.tool === 'sbt' ? 'scala' : project.has('kotlin') ? 'kotlin' : 'java';
}

export function javaFrom(repository: Repository, directory: string): Evidenced<string> | undefined {
  const found = toolVersion(repository, directory, 'java');
  const line = found && /^(?:1\.)?(\d{1,2})/.exec(found.value)?.[1];
  return found && line ? evidenced(line, certain, found.source.file, found.source.note) : undefined;
}

export function wrapperVersion(
  repository: Repository,
  directory: string,
  name: string,
  form: RegExp,
): string | null {
  for (let at: string | undefined = directory; at !== undefined; at = parentOf(at)) {
    const path = join(at, name);
    if (repository.has(path)) return findIn(repository, path, form)?.match[1] ?? null;
  }
  return null;
}

export function jvmPort(
  repository: Repository,
  framework: JvmFramework | undefined,
  configs: readonly string[],
  sources: readonly string[],
  { file, has }: JvmProject,
): Evidenced<number | null> {
  const set =
    framework?.key === undefined ? undefined : settingPort(setting(repository, configs, framework.key));
  if (set) return set;
  const isWeb = framework?.name !== 'spring-boot' || webMarks.some(has);
  if (!isWeb) return evidenced(null, conventional, file, 'no web starter');
  const inCode = framework?.name === 'spring-boot' ? undefined : portInCode(repository, sources);
  return (
    inCode ??
    evidenced(
      framework?.port ?? null,
      framework ? conventional : guessed,
      file,
      framework?.name ?? 'no port in the code',
    )
  );
}
