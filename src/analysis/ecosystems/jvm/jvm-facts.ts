/** What a project of the JVM says of itself, whichever tool builds it. */
import { conventional, type Evidenced, evidenced } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { join, parentOf, type Repository } from '../../repository.ts';
import { portInCode, usualPort } from '../code-port.ts';
import { toolVersion } from '../tool-versions.ts';
import { type JvmFramework, jvmSetting, settingPort } from './jvm-frameworks.ts';

export interface JvmProject {
  readonly tool: 'maven' | 'gradle' | 'sbt';
  readonly file: string;
  readonly name: string;
  readonly has: (mark: string) => boolean;
  readonly java?: Evidenced<string> | undefined;
  readonly lock?: string | undefined;
  readonly toolVersion: string | null;
  /** Where the code lies, if it is not the app's own folder. */
  readonly sources?: Project;
}

/** What makes a Spring Boot app listen. */
const webMarks =
  `starter-web webflux starter-jetty starter-undertow starter-tomcat graphql data-rest vaadin websocket
  actuator thymeleaf spring-cloud spring-web`.split(/\s+/);

/** A library of a Spring Boot build has the framework's parent as well, but nothing that starts. */
export function hasMain(repository: Repository, sources: readonly string[]): boolean {
  const main =
    /SpringApplication|runApplication|SpringBootServletInitializer|\bvoid\s+main\s*\(|\bfun main\s*\(/;
  return repository.find(sources, main) !== undefined;
}

export function jvmLanguage(sources: readonly string[], project: JvmProject): string {
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

export function javaFrom(project: Project): Evidenced<string> | undefined {
  const found = toolVersion(project, 'java');
  const line = found && /^(?:1\.)?(\d{1,2})/.exec(found.value)?.[1];
  return found && line ? { ...found, value: line } : undefined;
}

/** Of the tool that a wrapper downloads. */
export function wrapperVersion({ repository, path }: Project, name: string, form: RegExp): string | null {
  for (let at: string | undefined = path; at !== undefined; at = parentOf(at)) {
    const file = join(at, name);
    if (repository.has(file)) return repository.capture(file, form) ?? null;
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
    framework?.key === undefined ? undefined : settingPort(jvmSetting(repository, configs, framework.key));
  if (set) return set;
  const isWeb = framework?.name !== 'spring-boot' || webMarks.some(has);
  if (!isWeb) return evidenced(null, conventional, file, 'no web starter');
  const inCode = framework?.name === 'spring-boot' ? undefined : portInCode(repository, sources);
  return inCode ?? usualPort(framework, file);
}
