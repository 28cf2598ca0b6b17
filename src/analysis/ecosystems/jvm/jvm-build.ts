/** How each build tool of the JVM makes the program, and where it lies afterwards. */
import { join, nameOf, parentOf, type Repository } from '../../repository.ts';
import { findIn, findInAny, linesOf } from '../code.ts';
import { type GradleProject, gradleCommand } from './gradle.ts';
import type { JvmFramework } from './jvm-frameworks.ts';
import { type MavenProject, mavenCommand, mavenRoot } from './maven.ts';

export interface JvmBuild {
  readonly install: string | null;
  readonly build: string;
  readonly start: string | undefined;
}

export function mavenBuild(
  repository: Repository,
  directory: string,
  project: MavenProject,
  framework: JvmFramework | undefined,
  mainClass: string | undefined,
): JvmBuild {
  const maven = mavenCommand(repository, directory);
  const root = mavenRoot(repository, directory);
  const inside = root === undefined ? '' : directory.slice(root === '' ? 0 : root.length + 1);
  const steps = inside === '' ? '' : inside.replaceAll(/[^/]+/g, '..');
  // A module needs its neighbours, so the whole is built from above as far as this one needs it.
  const where = steps === '' ? '' : ` -f ${steps} -pl :${project.artifact} -am`;
  const packed = packedStart(project, framework);
  const copies = packed === undefined && mainClass !== undefined && project.packaging === 'jar';
  const has = (mark: string) => project.coordinates.some((each) => each.includes(mark));
  // Without a packed archive the libraries are laid beside the classes.
  const copied =
    copies && project.needsLibraries && !has(':maven-dependency-plugin')
      ? ' dependency:copy-dependencies'
      : '';
  const path = project.needsLibraries ? `'target/classes:target/dependency/*'` : 'target/classes';
  return {
    install: `${maven}${where} dependency:go-offline`,
    build: `${maven}${where} clean package${copied} -DskipTests`,
    start: copies ? `java -cp ${path} ${mainClass}` : packed,
  };
}

/** Frameworks whose archive runs by itself. */
const packing = new Set(['spring-boot', 'jhipster', 'micronaut', 'helidon', 'grails']);

function packedStart(project: MavenProject, framework: JvmFramework | undefined): string | undefined {
  const has = (mark: string) => project.coordinates.some((each) => each.includes(mark));
  const { packaging, finalName } = project;
  if (framework?.name === 'quarkus') return 'java -jar target/quarkus-app/quarkus-run.jar';
  if (framework && packing.has(framework.name))
    return `java -jar target/${finalName}.${packaging === 'war' ? 'war' : 'jar'}`;
  if (framework?.name === 'open-liberty') return 'mvn liberty:run';
  if (has(':webapp-runner'))
    return `java -jar target/dependency/webapp-runner.jar --port $PORT target/${finalName}.war`;
  if (packaging === 'war')
    return has('jetty-maven-plugin') ? 'mvn jetty:run-war -Djetty.http.port=$PORT' : undefined;
  if (has(':maven-assembly-plugin')) return `java -jar target/${finalName}-jar-with-dependencies.jar`;
  const isPacked =
    has(':maven-shade-plugin') || has(':vertx-maven-plugin') || has(':spring-boot-maven-plugin');
  const isRunnable = has(':maven-jar-plugin') && (project.mainClass !== undefined || !project.needsLibraries);
  return isPacked || isRunnable ? `java -jar target/${finalName}.jar` : undefined;
}

export function gradleBuild(
  repository: Repository,
  directory: string,
  project: GradleProject,
  framework: JvmFramework | undefined,
  inside: string,
): JvmBuild {
  const gradle = gradleCommand(repository, directory);
  const before = inside === '' ? '' : `${inside}/`;
  const name = project.version === undefined ? project.name : `${project.name}-${project.version}`;
  const made = (build: string, start: string | undefined): JvmBuild => ({
    install: `${gradle} dependencies`,
    build: `${gradle} ${build}`,
    start,
  });
  const jar = (file: string) => `java -jar ${before}build/libs/${project.archive ?? file}`;
  if (framework?.name === 'quarkus')
    return made('build -x test', `java -jar ${before}build/quarkus-app/quarkus-run.jar`);
  const isBoot =
    framework?.name === 'spring-boot' || framework?.name === 'jhipster' || framework?.name === 'grails';
  if (isBoot) return made('clean build -x test', jar(`${name}.${project.hasPlugin('war') ? 'war' : 'jar'}`));
  if (project.hasPlugin('io.ktor.plugin') || project.lines.some((line) => line.includes('plugins.ktor'))) {
    return made('buildFatJar', jar(`${project.name}-all.jar`));
  }
  const hasShadow = project.lines.some((line) =>
    /johnrengelman\.shadow|gradleup\.shadow|plugins\.shadow/.test(line),
  );
  if (hasShadow || project.lines.some((line) => line.includes('io.micronaut.application'))) {
    return made(hasShadow ? 'shadowJar' : 'build -x test', jar(`${name}-all.jar`));
  }
  if (project.hasPlugin('application')) {
    return made(
      'installDist',
      `${before === '' ? './' : before}build/install/${project.name}/bin/${project.name}`,
    );
  }
  const isRunnable = linesOf(repository, project.file).some((line) => /Main-Class/.test(line));
  return made('clean build -x test', isRunnable || framework ? jar(`${name}.jar`) : undefined);
}

export function sbtBuild(repository: Repository, directory: string, file: string, isPlay: boolean): JvmBuild {
  const plugins = join(directory, 'project/plugins.sbt');
  const name = (
    findIn(repository, file, /\bname\s*:=\s*"{1,3}([\w.\- ]+)"/)?.match[1] ??
    (nameOf(directory) || 'app')
  )
    .trim()
    .toLowerCase()
    .replaceAll(/[ _]/g, '-');
  const made = (build: string, start: string): JvmBuild => ({ install: 'sbt update', build, start });
  if (findIn(repository, plugins, /sbt-assembly/) && !isPlay) {
    const jar = findIn(repository, file, /assemblyJarName\b[^"]{0,40}"([\w.-]+\.jar)"/)?.match[1];
    const folder = findInAny(repository, [file], /scalaVersion\s*:=\s*"(3\.[\d.]+|2\.\d+)/)?.match[1];
    return made('sbt assembly', `java -jar target/scala-${folder ?? '*'}/${jar ?? `${name}-assembly-*.jar`}`);
  }
  if (isPlay)
    return made('sbt stage', `target/universal/stage/bin/${name} -Dhttp.port=$PORT -Dpidfile.path=/dev/null`);
  if (findIn(repository, plugins, /sbt-native-packager|sbt-pack/))
    return made('sbt stage', `target/universal/stage/bin/${name}`);
  return made('sbt compile', 'sbt run');
}

/** The class that has `main`, where nothing names one. */
export function mainClassIn(repository: Repository, sources: readonly string[]): string | undefined {
  for (const path of sources) {
    const isMain = /\.java$/.test(path)
      ? findIn(repository, path, /\bpublic\s+static\s+void\s+main\s*\(|^\s*(?:static\s+)?void\s+main\s*\(/)
      : findIn(
          repository,
          path,
          /^\s*(?:suspend\s+)?fun\s+main\s*\(|\bdef main\s*\(|\bextends\s+(?:App|IOApp|ZIOAppDefault)\b/,
        );
    if (!isMain) continue;
    const folder = findIn(repository, path, /^\s*package\s+([\w.]+)/)?.match[1];
    const name = nameOf(path).replace(/\.\w+$/, '');
    const type = path.endsWith('.kt') ? `${name.charAt(0).toUpperCase()}${name.slice(1)}Kt` : name;
    return folder === undefined ? type : `${folder}.${type}`;
  }
  return undefined;
}

export function isInMainFolder(path: string): boolean {
  return !/(?:^|\/)src\/(?:test|it|integrationTest)\//.test(path) && (parentOf(path) ?? '') !== 'project';
}
