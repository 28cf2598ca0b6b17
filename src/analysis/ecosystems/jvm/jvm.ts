/**
 * Java, Kotlin, Scala and Groovy, built by Maven, Gradle or sbt, or a lone source file. A parent that only lists modules
 * is no app; a Gradle build with one subproject is one app at its root, for that is where it is built.
 */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, evidenced, firstEvidenced, guessed } from '../../evidence.ts';
import { join, nameOf, parentOf, type Repository } from '../../repository.ts';
import { findIn, ownSources } from '../code.ts';
import { healthInCode } from '../code-health.ts';
import { portInCode } from '../code-port.ts';
import { candidate, manager, versionsOf } from '../draft.ts';
import { sqliteVolumes } from '../sqlite-volumes.ts';
import { versionLine } from '../version-lines.ts';
import { gradleProjects, gradleSettings, readGradle } from './gradle.ts';
import {
  gradleBuild,
  isInMainFolder,
  type JvmBuild,
  mainClassIn,
  mavenBuild,
  sbtBuild,
} from './jvm-build.ts';
import { hasMain, type JvmProject, javaFrom, jvmPort, languageOf, wrapperVersion } from './jvm-facts.ts';
import { configOf, healthOf, type JvmFramework, jvmFrameworks } from './jvm-frameworks.ts';
import { readMaven } from './maven.ts';

const boundaries = ['pom.xml', 'build.gradle', 'build.gradle.kts', 'build.sbt'];
const endings = ['.java', '.kt', '.scala', '.groovy'];

export const jvm: Detector = {
  name: 'jvm',
  detect({ path, files }, repository) {
    if (files.has('pom.xml')) return maven(repository, path);
    if (files.has('build.gradle') || files.has('build.gradle.kts') || gradleSettings(repository, path)) {
      return gradle(repository, path);
    }
    if (files.has('build.sbt')) return sbt(repository, path);
    return path === repository.root ? lone(repository, path, files) : [];
  },
};

function maven(repository: Repository, directory: string): readonly Candidate[] {
  const project = readMaven(repository, join(directory, 'pom.xml'));
  if (!project) return [];
  const { file, artifact, java, coordinates } = project;
  const has = (mark: string) => coordinates.some((each) => each.includes(mark));
  const isParent = project.packaging === 'pom';
  const wrapper = wrapperVersion(
    repository,
    directory,
    '.mvn/wrapper/maven-wrapper.properties',
    /apache-maven-([\d.]+)-/,
  );
  return [
    describe(
      repository,
      directory,
      { tool: 'maven', file, name: artifact, has, java, lock: undefined, toolVersion: wrapper },
      (framework, main) =>
        isParent
          ? undefined
          : mavenBuild(repository, directory, project, framework, project.mainClass ?? main),
    ),
  ];
}

function gradle(repository: Repository, directory: string): readonly Candidate[] {
  const settings = gradleSettings(repository, directory);
  const parts = settings === undefined ? [] : gradleProjects(repository, settings);
  const [only] = parts;
  const own = readGradle(repository, directory);
  const isRunnable = own?.lines.some((line) =>
    /application|springframework\.boot|io\.quarkus|micronaut|ktor/.test(line),
  );
  const hasCode = repository.directory(join(directory, 'src')) !== undefined;
  const takes = parts.length === 1 && only !== undefined && !isRunnable ? only : undefined;
  const above =
    takes === undefined
      ? repository.upwards(parentOf(directory) ?? '', ['settings.gradle', 'settings.gradle.kts'])
      : undefined;
  // The root has spoken for its only subproject.
  if (above !== undefined && directory !== '' && gradleProjects(repository, above).length === 1) return [];
  const project = takes === undefined ? own : readGradle(repository, takes);
  if (!project) return [];
  const has = (mark: string) => project.lines.some((line) => line.includes(mark));
  const version = wrapperVersion(
    repository,
    directory,
    'gradle/wrapper/gradle-wrapper.properties',
    /gradle-([\d.]+)-/,
  );
  const inside = takes === undefined ? '' : takes.slice(directory === '' ? 0 : directory.length + 1);
  const known: JvmProject = {
    tool: 'gradle',
    file: project.file,
    name: project.name,
    has,
    java: project.java,
    lock: repository.firstOf(takes ?? directory, ['gradle.lockfile']),
    toolVersion: version,
    ...(takes === undefined ? {} : { folder: takes }),
  };
  return [
    describe(repository, directory, known, (framework) =>
      parts.length > 1 && !(isRunnable && hasCode)
        ? undefined
        : gradleBuild(repository, directory, project, framework, inside),
    ),
  ];
}

function sbt(repository: Repository, directory: string): readonly Candidate[] {
  const file = join(directory, 'build.sbt');
  const files = [file, join(directory, 'project/plugins.sbt'), join(directory, 'project/Dependencies.scala')];
  const has = (mark: string) =>
    files.some((path) => repository.text(path)?.toLowerCase().includes(mark) === true);
  const name =
    findIn(repository, file, /\bname\s*:=\s*"{1,3}([\w.\- ]+)"/)?.match[1]?.trim() ??
    (nameOf(directory) || 'app');
  const version = wrapperVersion(
    repository,
    directory,
    'project/build.properties',
    /sbt\.version\s*=\s*([\d.]+)/,
  );
  return [
    describe(
      repository,
      directory,
      { tool: 'sbt', file, name, has, java: undefined, lock: undefined, toolVersion: version },
      (framework) => sbtBuild(repository, directory, file, framework?.name === 'play'),
    ),
  ];
}

function describe(
  repository: Repository,
  directory: string,
  project: JvmProject,
  buildOf: (framework: JvmFramework | undefined, mainClass: string | undefined) => JvmBuild | undefined,
): Candidate {
  const { file, tool, name } = project;
  const home = project.folder ?? directory;
  const sources = ownSources(repository, home, endings, boundaries).filter(isInMainFolder);
  const framework = jvmFrameworks.find(({ marks }) => marks.some(project.has));
  const built = buildOf(framework, mainClassIn(repository, sources));
  const language = languageOf(sources, project);
  const configs = configOf(repository, home);
  const say = (value: string | null | undefined) =>
    value ? evidenced(value, conventional, file, tool) : undefined;
  const draft = {
    name: evidenced(name, certain, file, name),
    language: evidenced(language, certain, sources[0] ?? file, language),
    framework: framework && evidenced(framework.name, certain, file, framework.name),
    packageManager: manager(tool, project.lock, file, project.toolVersion),
    versions: versionsOf({
      java: versionLine('java', firstEvidenced(javaFrom(repository, directory), project.java)),
    }),
    installCommand: say(built?.install),
    buildCommand: say(built?.build),
    startCommand: say(built?.start),
    port: jvmPort(repository, framework, configs, sources, project),
    healthPath:
      (framework && healthOf(repository, framework, file, project.has, configs)) ??
      healthInCode(repository, sources),
    volumes: sqliteVolumes(repository, directory, [...configs, ...sources]),
  };
  const isApp = built !== undefined && (built.start !== undefined || framework !== undefined);
  const isLibrary =
    !isApp || (framework?.name === 'spring-boot' && sources.length > 0 && !hasMain(repository, sources));
  return candidate(
    'jvm',
    directory,
    isLibrary ? 0.3 : framework ? 0.9 : 0.75,
    draft,
    isLibrary ? 'library' : 'app',
  );
}

/** Java files without any build, as in exercises. */
function lone(repository: Repository, directory: string, files: ReadonlySet<string>): readonly Candidate[] {
  const sources = [...files].filter((name) => name.endsWith('.java')).sort();
  const main = mainClassIn(repository, sources);
  if (main === undefined) return [];
  const file = sources[0] ?? directory;
  const draft = {
    language: evidenced('java', certain, file, 'Java'),
    versions: versionsOf({ java: javaFrom(repository, directory) }),
    buildCommand: evidenced('javac *.java', conventional, file, 'no build tool'),
    startCommand: evidenced(`java ${main}`, conventional, file, 'main'),
    port: portInCode(repository, sources) ?? evidenced(null, guessed, file, 'no port in the code'),
  };
  return [candidate('jvm', directory, 0.4, draft)];
}
