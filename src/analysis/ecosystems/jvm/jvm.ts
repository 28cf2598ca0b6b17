/**
 * Java, Kotlin, Scala and Groovy, built by Maven, Gradle or sbt, or a lone source file. A parent that only lists modules
 * is no app; a Gradle build with one subproject is one app at its root, for that is where it is built.
 */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, evidenced } from '../../evidence.ts';
import { Project } from '../../project.ts';
import { nameOf, parentOf } from '../../repository.ts';
import { healthInCode } from '../code-health.ts';
import { portInCode, usualPort } from '../code-port.ts';
import { candidate, manager, versionsOf } from '../draft.ts';
import { sqliteVolumes } from '../sqlite-volumes.ts';
import { pinOrLeast, versionLine } from '../version-lines.ts';
import { gradleProjects, readGradle, settingsFiles } from './gradle.ts';
import {
  gradleBuild,
  isInMainFolder,
  type JvmBuild,
  mainClassIn,
  mavenBuild,
  sbtBuild,
} from './jvm-build.ts';
import { hasMain, type JvmProject, javaFrom, jvmLanguage, jvmPort, wrapperVersion } from './jvm-facts.ts';
import { healthOf, jvmConfigFiles, jvmFrameworks } from './jvm-frameworks.ts';
import { readMaven } from './maven.ts';

const boundaries = ['pom.xml', 'build.gradle', 'build.gradle.kts', 'build.sbt'];
const endings = ['.java', '.kt', '.scala', '.groovy'];

export const jvm: Detector = {
  name: 'jvm',
  detect(project) {
    if (project.files.has('pom.xml')) return maven(project);
    if (project.first('build.gradle', 'build.gradle.kts', ...settingsFiles)) return gradle(project);
    if (project.files.has('build.sbt')) return sbt(project);
    return project.isRoot ? lone(project) : [];
  },
};

function maven(project: Project): readonly Candidate[] {
  const pom = readMaven(project.repository, project.at('pom.xml'));
  if (!pom) return [];
  const { file, artifact, java, coordinates } = pom;
  const known: JvmProject = {
    tool: 'maven',
    file,
    name: artifact,
    has: (mark) => coordinates.some((each) => each.includes(mark)),
    java,
    toolVersion: wrapperVersion(project, '.mvn/wrapper/maven-wrapper.properties', /apache-maven-([\d.]+)-/),
  };
  if (pom.packaging === 'pom') return [describe(project, known, () => undefined)];
  return [
    describe(project, known, (framework, main) => mavenBuild(project, pom, framework, pom.mainClass ?? main)),
  ];
}

function gradle(project: Project): readonly Candidate[] {
  const { repository, path } = project;
  const settings = project.first(...settingsFiles);
  const parts = settings === undefined ? [] : gradleProjects(repository, settings);
  const own = readGradle(project);
  const isRunnable = own?.lines.some((line) =>
    /application|springframework\.boot|io\.quarkus|micronaut|ktor/.test(line),
  );
  const [only] = parts;
  const part =
    parts.length === 1 && only !== undefined && !isRunnable ? new Project(repository, only) : undefined;
  const above = part ? undefined : repository.upwards(parentOf(path) ?? '', settingsFiles);
  // The root has spoken for its only subproject.
  if (above !== undefined && !project.isRoot && gradleProjects(repository, above).length === 1) return [];
  const found = part ? readGradle(part) : own;
  if (!found) return [];
  const known: JvmProject = {
    tool: 'gradle',
    file: found.file,
    name: found.name,
    has: (mark) => found.lines.some((line) => line.includes(mark)),
    java: found.java,
    lock: (part ?? project).first('gradle.lockfile'),
    toolVersion: wrapperVersion(project, 'gradle/wrapper/gradle-wrapper.properties', /gradle-([\d.]+)-/),
    ...(part && { sources: part }),
  };
  const isParent = parts.length > 1 && !(isRunnable && project.hasFolder('src'));
  const inside = part ? project.relative(part.path) : '';
  return [
    describe(project, known, (framework) =>
      isParent ? undefined : gradleBuild(project, found, framework, inside),
    ),
  ];
}

function sbt(project: Project): readonly Candidate[] {
  const files = ['build.sbt', 'project/plugins.sbt', 'project/Dependencies.scala'];
  const name =
    project.capture('build.sbt', /\bname\s*:=\s*"{1,3}([\w.\- ]+)"/)?.trim() ??
    (nameOf(project.path) || 'app');
  const known: JvmProject = {
    tool: 'sbt',
    file: project.at('build.sbt'),
    name,
    has: (mark) => files.some((file) => project.text(file)?.toLowerCase().includes(mark) === true),
    toolVersion: wrapperVersion(project, 'project/build.properties', /sbt\.version\s*=\s*([\d.]+)/),
  };
  return [describe(project, known, (framework) => sbtBuild(project, name, framework === 'play'))];
}

function describe(
  project: Project,
  known: JvmProject,
  buildOf: (framework: string | undefined, mainClass: string | undefined) => JvmBuild | undefined,
): Candidate {
  const { file, tool, name } = known;
  const { repository } = project;
  const code = known.sources ?? project;
  const sources = code.sources(endings, boundaries).filter(isInMainFolder);
  const framework = jvmFrameworks.find(({ marks }) => marks.some(known.has));
  const built = buildOf(framework?.name, mainClassIn(repository, sources));
  const language = jvmLanguage(sources, known);
  const configs = jvmConfigFiles(code);
  const say = (value: string | undefined) => (value ? evidenced(value, conventional, file, tool) : undefined);
  const draft = {
    name: evidenced(name, certain, file, name),
    language: evidenced(language, certain, sources[0] ?? file, language),
    framework: framework && evidenced(framework.name, certain, file, framework.name),
    packageManager: manager(tool, known.lock, file, known.toolVersion),
    versions: versionsOf({ java: versionLine('java', pinOrLeast(javaFrom(project), known.java)) }),
    installCommand: say(built?.install),
    buildCommand: say(built?.build),
    startCommand: say(built?.start),
    port: jvmPort(repository, framework, configs, sources, known),
    healthPath:
      (framework && healthOf(repository, framework, file, known.has, configs)) ??
      healthInCode(repository, sources),
    ...sqliteVolumes(project, [...configs, ...sources]),
  };
  const isApp = built !== undefined && (built.start !== undefined || framework !== undefined);
  const isLibrary =
    !isApp || (framework?.name === 'spring-boot' && sources.length > 0 && !hasMain(repository, sources));
  const score = isLibrary ? 0.3 : framework ? 0.9 : 0.75;
  return candidate('jvm', project.path, score, draft, isLibrary ? 'library' : 'app');
}

/** Java files without any build, as in exercises. */
function lone(project: Project): readonly Candidate[] {
  const { repository } = project;
  const sources = project.withEnding('.java');
  const [file] = sources;
  const main = mainClassIn(repository, sources);
  if (main === undefined || file === undefined) return [];
  const draft = {
    language: evidenced('java', certain, file, 'Java'),
    versions: versionsOf({ java: javaFrom(project) }),
    buildCommand: evidenced('javac *.java', conventional, file, 'no build tool'),
    startCommand: evidenced(`java ${main}`, conventional, file, 'main'),
    port: portInCode(repository, sources) ?? usualPort(undefined, file),
  };
  return [candidate('jvm', project.path, 0.4, draft)];
}
