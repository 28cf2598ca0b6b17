/**
 * Java, Kotlin and Scala by Maven or Gradle: built with a JDK, run with a JRE. The wrapper of the repository is used
 * where there is one, as it brings the version that the project was written for.
 */

import { join } from '../../repository.ts';
import type { Cache, Document } from '../document.ts';
import { folderSource, type Request, writtenFolders } from '../request.ts';
import { imageVersionOf } from '../steps/base-images.ts';
import { plainWords, startForm } from '../text/command-line.ts';
import { isPlainPath } from '../text/grammar.ts';

interface Tool {
  readonly image: (version: string) => string;
  readonly wrapper: string;
  readonly program: string;
  readonly build: string;
  readonly results: string;
  readonly cache: Cache;
}

const maven: Tool = {
  image: (version) => `maven:3-eclipse-temurin-${version}`,
  wrapper: 'mvnw',
  program: 'mvn',
  build: '-B -DskipTests package',
  results: 'target',
  cache: { id: 'maven', target: '/root/.m2', locked: true },
};
const gradle: Tool = {
  image: (version) => `gradle:8-jdk${version}`,
  wrapper: 'gradlew',
  program: 'gradle',
  build: 'build -x test --no-daemon',
  results: 'build/libs',
  cache: { id: 'gradle', target: '/root/.gradle', locked: true },
};

/** What is taken over from the build, and how it is started there. */
interface Result {
  /** Puts it into /out; `null` where a folder is copied as it is. */
  readonly collect: string | null;
  readonly from: string;
  readonly to: string;
  readonly argv: readonly string[];
  readonly why: string;
}

export function jvmDockerfile(document: Document, request: Request): number {
  const { version, why } = imageVersionOf(request, 'java', 1);
  const tool = request.app.packageManager?.name === 'gradle' ? gradle : maven;
  const { directory } = request;
  const isMember =
    directory !== '' && (request.monorepo?.kind === 'gradle' || request.monorepo?.kind === 'maven');
  const root = isMember ? '' : directory;
  const home = isMember ? `/app/${directory}` : '/app';
  const hasWrapper = request.files.has(join(root, tool.wrapper));
  const image = hasWrapper ? `eclipse-temurin:${version}-jdk` : tool.image(version);
  const stage = document.stage('build', image, why);
  stage.systemPackages();
  stage.workdir('/app');
  if (tool === gradle) stage.env({ GRADLE_USER_HOME: '/root/.gradle' });
  stage.copy(
    [folderSource(root)],
    './',
    'Plugins may read any file, so all are copied; the cache below keeps the downloads',
  );
  stage.arguments('build');
  if (isMember) stage.workdir(home);
  const up = isMember ? '../'.repeat(directory.split('/').length) : './';
  // Git may not have the wrapper as executable.
  const given = request.buildCommand?.replace(/^((?:\.{1,2}\/)+(?:mvnw|gradlew)) /, 'sh $1 ');
  const build = given ?? `${hasWrapper ? `sh ${up}${tool.wrapper}` : tool.program} ${tool.build}`;
  stage.run(build, 'Built with downloads kept between builds', [tool.cache]);
  const result = resultOf(request, tool, home);
  if (result.collect !== null) stage.plainRun(result.collect, result.why);

  const runtime = document.runtime(`eclipse-temurin:${version}-jre`, 'To run it needs no compiler');
  runtime.systemPackages();
  runtime.user(writtenFolders(request, '/app'));
  runtime.workdir('/app');
  runtime.copy([result.from], result.to, result.why, ['--from=build', '--chown=10001:10001']);
  const port = request.port ?? 8080;
  runtime.env(
    { PORT: port, SERVER_PORT: port, QUARKUS_HTTP_PORT: port },
    'Frameworks of Java read other names',
  );
  runtime.env(
    { JAVA_TOOL_OPTIONS: '-XX:MaxRAMPercentage=75' },
    'Java takes a quarter of the memory unless an option says otherwise',
  );
  return runtime.process({
    port,
    healthCheck: 'bash',
    argv: result.argv,
    why: 'Java takes the place of whatever starts it, so that it gets SIGTERM',
  });
}

function resultOf(request: Request, tool: Tool, home: string): Result {
  const start = request.startCommand ?? 'java -jar app.jar';
  const installed = /^(?:\.\/)?((?:[\w.-]+\/)*build\/install\/[\w.-]+\/)bin\//.exec(start)?.[1];
  if (installed !== undefined && isPlainPath(installed)) {
    const why = 'The program with all its libraries, as Gradle has put them together';
    return {
      collect: null,
      from: `${home}/${installed}`,
      to: `./${installed}`,
      argv: startForm(start).argv,
      why,
    };
  }
  const found = /^(java(?: -[A-Za-z][\w:=.%+/-]*)*) -jar (\S+)((?: [\w=./:${}-]+)*)$/.exec(start);
  if (!found) {
    const why = 'The start command is not "java -jar", so everything comes along';
    return { collect: null, from: `${home}/`, to: './', argv: startForm(start).argv, why };
  }
  const [, java = 'java', file = '', rest = ''] = found;
  if (file.includes('quarkus-app') || request.app.framework === 'quarkus') {
    const from = `${home}/${tool.results.split('/')[0]}/quarkus-app/`;
    const argv = startForm(`${java} -jar quarkus-run.jar${rest}`).argv;
    return { collect: null, from, to: './', argv, why: 'Quarkus puts all that runs into this folder' };
  }
  return {
    collect: `mkdir -p /out && cp ${archiveOf(file, tool)} /out/app.jar`,
    from: '/out/',
    to: './',
    argv: startForm(`${java} -jar app.jar${rest}`).argv,
    why: 'The one archive that runs, whatever version its name holds',
  };
}

/** A name that is certain, or the largest archive; those with sources or without dependencies are not it. */
function archiveOf(file: string, tool: Tool): string {
  const exact = plainWords(file)?.[0] ?? '';
  const isExact = /^[A-Za-z0-9._/-]+\.jar$/.test(exact) && !exact.startsWith('/') && isPlainPath(exact);
  if (isExact && exact.includes('/')) return exact;
  const folder = /^((?:[\w.-]+\/)+)/.exec(file)?.[1] ?? `${tool.results}/`;
  const place = isPlainPath(folder) ? folder : `${tool.results}/`;
  const others = '-(plain|sources|javadoc|tests)[.]jar$|/original-';
  return `"$(ls -S ${place}*.jar | grep -Ev -- '${others}' | head -n 1)"`;
}
