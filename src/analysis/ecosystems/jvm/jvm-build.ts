/** How each build tool of the JVM makes the program, and where it lies afterwards. */
import type { Project } from '../../project.ts';
import { nameOf, parentOf, type Repository } from '../../repository.ts';
import type { GradleProject } from './gradle.ts';
import { buildTool, type MavenProject, mavenRoot } from './maven.ts';

export interface JvmBuild {
  readonly install: string;
  readonly build: string;
  readonly start: string | undefined;
}

export function mavenBuild(
  project: Project,
  pom: MavenProject,
  framework: string | undefined,
  mainClass: string | undefined,
): JvmBuild {
  const maven = buildTool(project, 'mvnw', 'mvn');
  const root = mavenRoot(project);
  const inside = root === undefined ? '' : project.path.slice(root === '' ? 0 : root.length + 1);
  const steps = inside === '' ? '' : inside.replaceAll(/[^/]+/g, '..');
  // A module needs its neighbours, so the whole is built from above as far as this one needs it.
  const where = steps === '' ? '' : ` -f ${steps} -pl :${pom.artifact} -am`;
  const packed = packedStart(pom, framework);
  const copies = packed === undefined && mainClass !== undefined && pom.packaging === 'jar';
  const hasPlugin = pom.coordinates.some((each) => each.includes(':maven-dependency-plugin'));
  // Without a packed archive the libraries are laid beside the classes.
  const copied = copies && pom.needsLibraries && !hasPlugin ? ' dependency:copy-dependencies' : '';
  const path = pom.needsLibraries ? `'target/classes:target/dependency/*'` : 'target/classes';
  return {
    install: `${maven}${where} dependency:go-offline`,
    build: `${maven}${where} clean package${copied} -DskipTests`,
    start: copies ? `java -cp ${path} ${mainClass}` : packed,
  };
}

/** Frameworks whose archive runs by itself. */
const packing = new Set(['spring-boot', 'jhipster', 'micronaut', 'helidon', 'grails']);

function packedStart(pom: MavenProject, framework: string | undefined): string | undefined {
  const has = (mark: string) => pom.coordinates.some((each) => each.includes(mark));
  const { packaging, finalName } = pom;
  if (framework === 'quarkus') return 'java -jar target/quarkus-app/quarkus-run.jar';
  if (framework !== undefined && packing.has(framework))
    return `java -jar target/${finalName}.${packaging === 'war' ? 'war' : 'jar'}`;
  if (framework === 'open-liberty') return 'mvn liberty:run';
  if (has(':webapp-runner'))
    return `java -jar target/dependency/webapp-runner.jar --port $PORT target/${finalName}.war`;
  if (packaging === 'war')
    return has('jetty-maven-plugin') ? 'mvn jetty:run-war -Djetty.http.port=$PORT' : undefined;
  if (has(':maven-assembly-plugin')) return `java -jar target/${finalName}-jar-with-dependencies.jar`;
  const isPacked =
    has(':maven-shade-plugin') || has(':vertx-maven-plugin') || has(':spring-boot-maven-plugin');
  const isRunnable = has(':maven-jar-plugin') && (pom.mainClass !== undefined || !pom.needsLibraries);
  return isPacked || isRunnable ? `java -jar target/${finalName}.jar` : undefined;
}

export function gradleBuild(
  project: Project,
  { name, version, archive, lines, hasPlugin, file }: GradleProject,
  framework: string | undefined,
  inside: string,
): JvmBuild {
  const gradle = buildTool(project, 'gradlew', 'gradle');
  const before = inside === '' ? '' : `${inside}/`;
  const whole = version === undefined ? name : `${name}-${version}`;
  const made = (build: string, start: string | undefined): JvmBuild => ({
    install: `${gradle} dependencies`,
    build: `${gradle} ${build}`,
    start,
  });
  const jar = (usual: string) => `java -jar ${before}build/libs/${archive ?? usual}`;
  const has = (pattern: RegExp) => lines.some((line) => pattern.test(line));
  if (framework === 'quarkus')
    return made('build -x test', `java -jar ${before}build/quarkus-app/quarkus-run.jar`);
  if (framework === 'spring-boot' || framework === 'jhipster' || framework === 'grails')
    return made('clean build -x test', jar(`${whole}.${hasPlugin('war') ? 'war' : 'jar'}`));
  if (hasPlugin('io.ktor.plugin') || has(/plugins\.ktor/)) return made('buildFatJar', jar(`${name}-all.jar`));
  if (has(/johnrengelman\.shadow|gradleup\.shadow|plugins\.shadow/))
    return made('shadowJar', jar(`${whole}-all.jar`));
  if (has(/io\.micronaut\.application/)) return made('build -x test', jar(`${whole}-all.jar`));
  if (hasPlugin('application'))
    return made('installDist', `${before === '' ? './' : before}build/install/${name}/bin/${name}`);
  const isRunnable = framework !== undefined || project.repository.find(file, /Main-Class/) !== undefined;
  return made('clean build -x test', isRunnable ? jar(`${whole}.jar`) : undefined);
}

export function sbtBuild(project: Project, name: string, isPlay: boolean): JvmBuild {
  const program = name.toLowerCase().replaceAll(/[ _]/g, '-');
  const made = (build: string, start: string): JvmBuild => ({ install: 'sbt update', build, start });
  if (project.find('project/plugins.sbt', /sbt-assembly/) && !isPlay) {
    const jar = project.capture('build.sbt', /assemblyJarName\b[^"]{0,40}"([\w.-]+\.jar)"/);
    const folder = project.capture('build.sbt', /scalaVersion\s*:=\s*"(3\.[\d.]+|2\.\d+)/);
    const file = jar ?? `${program}-assembly-*.jar`;
    return made('sbt assembly', `java -jar target/scala-${folder ?? '*'}/${file}`);
  }
  const named = project.capture('build.sbt', /\bexecutableScriptName\s*:=\s*"([\w.-]{1,100})"/);
  const staged = `target/universal/stage/bin/${named ?? program}`;
  if (isPlay) return made('sbt stage', `${staged} -Dhttp.port=$PORT -Dpidfile.path=/dev/null`);
  const isStaged = project.find('project/plugins.sbt', /sbt-native-packager|sbt-pack/);
  return isStaged ? made('sbt stage', staged) : made('sbt compile', 'sbt run');
}

/** The class that has `main`, where nothing names one. */
export function mainClassIn(repository: Repository, sources: readonly string[]): string | undefined {
  const inJava = /\bpublic\s+static\s+void\s+main\s*\(|^\s*(?:static\s+)?void\s+main\s*\(/;
  const inOthers =
    /^\s*(?:suspend\s+)?fun\s+main\s*\(|\bdef main\s*\(|\bextends\s+(?:App|IOApp|ZIOAppDefault)\b/;
  const path = sources.find((each) => repository.find(each, each.endsWith('.java') ? inJava : inOthers));
  if (path === undefined) return undefined;
  const folder = repository.capture(path, /^\s*package\s+([\w.]+)/);
  const name = nameOf(path).replace(/\.\w+$/, '');
  const type = path.endsWith('.kt') ? `${name.charAt(0).toUpperCase()}${name.slice(1)}Kt` : name;
  return folder === undefined ? type : `${folder}.${type}`;
}

export function isInMainFolder(path: string): boolean {
  return !/(?:^|\/)src\/(?:test|it|integrationTest)\//.test(path) && (parentOf(path) ?? '') !== 'project';
}
