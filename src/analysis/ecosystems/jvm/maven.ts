/** A Maven project: what its pom.xml says, with properties put in where they are given. */

import { certain, type Evidenced, evidenced } from '../../evidence.ts';
import { listOf, parseXml } from '../../readers/xml.ts';
import { isParsed, join, nameOf, type Parsed, parentOf, type Repository } from '../../repository.ts';

export interface MavenProject {
  readonly file: string;
  readonly artifact: string;
  readonly version: string | undefined;
  readonly packaging: string;
  readonly modules: readonly string[];
  /** `group:artifact` of parent, plugins and dependencies, those for tests left out. */
  readonly coordinates: readonly string[];
  readonly java: Evidenced<string> | undefined;
  /** The archive without its ending, as in `demo-0.0.1-SNAPSHOT`; with `*` where the version is not known. */
  readonly finalName: string;
  readonly mainClass: string | undefined;
  /** It has dependencies of its own. */
  readonly needsLibraries: boolean;
}

export function readMaven(repository: Repository, file: string): MavenProject | undefined {
  const document = repository.parsed(file, 'xml', parseXml);
  const project = isParsed(document) ? document.project : undefined;
  if (!isParsed(project)) return undefined;
  const parent = isParsed(project.parent) ? project.parent : {};
  const properties = isParsed(project.properties) ? project.properties : {};
  const artifact = textOf(project.artifactId) ?? 'app';
  const own: Parsed = {
    ...properties,
    'project.version': project.version ?? parent.version,
    'project.artifactId': artifact,
  };
  const fill = (value: unknown) => filled(textOf(value), own);
  const build = isParsed(project.build) ? project.build : {};
  const version = fill(project.version ?? parent.version);
  const plugins = pluginsOf(build);
  return {
    file,
    artifact,
    version,
    packaging: fill(project.packaging) ?? 'jar',
    modules: isParsed(project.modules)
      ? listOf(project.modules.module).flatMap((each) => textOf(each) ?? [])
      : [],
    coordinates: [coordinate(parent), ...plugins.map(coordinate), ...dependenciesOf(project).map(coordinate)],
    needsLibraries: ownDependencies(project).some(({ scope }) => scope !== 'test' && scope !== 'provided'),
    java: javaVersion(properties, plugins, fill, file),
    finalName: fill(build.finalName) ?? `${artifact}-${version ?? '*'}`,
    mainClass:
      mainClassOf(plugins, fill) ??
      fill(properties['start-class'] ?? properties['exec.mainClass'] ?? properties.mainClass),
  };
}

function textOf(value: unknown): string | undefined {
  if (isParsed(value)) return textOf(value['#text']);
  return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 200) : undefined;
}

/** `${revision}` from the properties; what is not known there stays unknown. */
function filled(text: string | undefined, properties: Parsed): string | undefined {
  let value = text;
  for (let round = 0; round < 4 && value?.includes('${'); round += 1) {
    const name: string | undefined = /\$\{([\w.-]{1,80})\}/.exec(value)?.[1];
    if (name === undefined || !Object.hasOwn(properties, name)) return undefined;
    value = value.replace(`\${${name}}`, () => textOf(properties[name]) ?? '').slice(0, 400);
  }
  return value?.includes('${') ? undefined : value;
}

function pluginsOf(build: Parsed): readonly Parsed[] {
  const direct = isParsed(build.plugins) ? listOf(build.plugins.plugin) : [];
  return direct.filter(isParsed).slice(0, 100);
}

function ownDependencies(project: Parsed): readonly Parsed[] {
  const all = isParsed(project.dependencies) ? listOf(project.dependencies.dependency) : [];
  return all.filter(isParsed);
}

function dependenciesOf(project: Parsed): readonly Parsed[] {
  const all = ownDependencies(project);
  const managed = isParsed(project.dependencyManagement)
    ? project.dependencyManagement.dependencies
    : undefined;
  const boms = isParsed(managed) ? listOf(managed.dependency) : [];
  return [...all, ...boms].filter(isParsed).filter(({ scope }) => scope !== 'test');
}

function coordinate({ groupId, artifactId }: Parsed): string {
  return `${textOf(groupId) ?? ''}:${textOf(artifactId) ?? ''}`;
}

function javaVersion(
  properties: Parsed,
  plugins: readonly Parsed[],
  fill: (value: unknown) => string | undefined,
  file: string,
): Evidenced<string> | undefined {
  const compiler = plugins.find(({ artifactId }) => artifactId === 'maven-compiler-plugin')?.configuration;
  const set = isParsed(compiler) ? (compiler.release ?? compiler.target ?? compiler.source) : undefined;
  const names = [
    'maven.compiler.release',
    'java.version',
    'maven.compiler.target',
    'maven.compiler.source',
    'jdk.version',
    'kotlin.compiler.jvmTarget',
  ];
  const value = fill(set) ?? names.map((name) => fill(properties[name])).find((each) => each !== undefined);
  const version = value === undefined ? undefined : /^(?:1\.)?(\d{1,2})/.exec(value)?.[1];
  return version === undefined ? undefined : evidenced(version, certain, file, `java ${version}`);
}

function mainClassOf(
  plugins: readonly Parsed[],
  fill: (value: unknown) => string | undefined,
): string | undefined {
  for (const plugin of plugins) {
    const found = /"mainClass":"([\w.$]{1,200})"/.exec(JSON.stringify(plugin).slice(0, 20_000))?.[1];
    if (found !== undefined) return fill(found);
  }
  return undefined;
}

/** The pom.xml above that lists this folder among its modules. */
export function mavenRoot(repository: Repository, directory: string): string | undefined {
  let root: string | undefined;
  let inside = directory;
  for (let at = parentOf(directory); at !== undefined; at = parentOf(at)) {
    const file = join(at, 'pom.xml');
    if (!repository.has(file)) continue;
    const relative = at === '' ? inside : inside.slice(at.length + 1);
    const modules = readMaven(repository, file)?.modules ?? [];
    if (!modules.some((each) => each.replace(/\/?(?:pom\.xml)?$/, '') === relative)) continue;
    root = at;
    inside = at;
  }
  return root;
}

/** How Maven is called from the folder: by the wrapper, wherever it lies. */
export function mavenCommand(repository: Repository, directory: string): string {
  const wrapper = repository.upwards(directory, ['mvnw']);
  return wrapper === undefined ? 'mvn' : climb(directory, parentOf(wrapper) ?? '', nameOf(wrapper));
}

/** `./x` beside, `../x` one above. */
export function climb(directory: string, target: string, name: string): string {
  const depth = (path: string) => (path === '' ? 0 : path.split('/').length);
  const steps = depth(directory) - depth(target);
  return steps === 0 ? `./${name}` : `${'../'.repeat(steps)}${name}`;
}
