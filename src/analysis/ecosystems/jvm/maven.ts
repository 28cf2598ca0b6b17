/** A Maven project: what its pom.xml says, with properties put in where they are given. */

import { certain, type Evidenced, evidenced } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { objectAt, valueAt } from '../../readers/shape.ts';
import { parseXml, xmlList } from '../../readers/xml.ts';
import { isParsed, join, type Parsed, parentOf, type Repository } from '../../repository.ts';
import { namedMember, workspaceFinder } from '../workspace-members.ts';

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
  /** Artifacts of dependencies that the program needs to run, managed ones included. */
  readonly libraries: readonly string[];
  /** It has dependencies of its own. */
  readonly needsLibraries: boolean;
}

/** Several projects in one build. One alone is no workspace. */
export const mavenWorkspace = workspaceFinder('maven', ['pom.xml'], 'modules', (repository, file, root) =>
  (readMaven(repository, file)?.modules ?? [])
    .map((name) => namedMember(root, name.replace(/\/pom\.xml$/, '')))
    .filter((member): member is string => member !== undefined && repository.has(join(member, 'pom.xml'))),
);

export function readMaven(repository: Repository, file: string): MavenProject | undefined {
  const project = valueAt(repository.parsed(file, 'xml', parseXml), 'project');
  if (!isParsed(project)) return undefined;
  const parent = objectAt(project, 'parent');
  const properties = objectAt(project, 'properties');
  const artifact = textOf(project.artifactId) ?? 'app';
  const known: Parsed = {
    ...properties,
    'project.version': project.version ?? parent.version,
    'project.artifactId': artifact,
  };
  const fill = (value: unknown) => filled(textOf(value), known);
  const build = objectAt(project, 'build');
  const version = fill(project.version ?? parent.version);
  const plugins = xmlList(valueAt(build, 'plugins', 'plugin'))
    .filter(isParsed)
    .slice(0, 100);
  const own = dependenciesIn(project);
  const managed = dependenciesIn(objectAt(project, 'dependencyManagement'));
  const used = [...own, ...managed].filter(({ scope }) => scope !== 'test');
  return {
    file,
    artifact,
    version,
    packaging: fill(project.packaging) ?? 'jar',
    modules: xmlList(valueAt(project, 'modules', 'module')).flatMap((each) => textOf(each) ?? []),
    coordinates: [parent, ...plugins, ...used].map(coordinate),
    libraries: used.filter(isNeeded).flatMap(({ artifactId }) => textOf(artifactId) ?? []),
    needsLibraries: own.some(isNeeded),
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

function isNeeded({ scope }: Parsed): boolean {
  return scope !== 'test' && scope !== 'provided';
}

function dependenciesIn(holder: Parsed): readonly Parsed[] {
  return xmlList(valueAt(holder, 'dependencies', 'dependency')).filter(isParsed);
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
export function mavenRoot({ repository, path }: Project): string | undefined {
  let root: string | undefined;
  let inside = path;
  for (let at = parentOf(path); at !== undefined; at = parentOf(at)) {
    const relative = at === '' ? inside : inside.slice(at.length + 1);
    const modules = readMaven(repository, join(at, 'pom.xml'))?.modules ?? [];
    if (!modules.some((each) => each.replace(/\/?(?:pom\.xml)?$/, '') === relative)) continue;
    root = at;
    inside = at;
  }
  return root;
}

/** How a build tool is called from the folder: by the wrapper, wherever it lies; `./x` beside, `../x` one above. */
export function buildTool(project: Project, wrapper: string, program: string): string {
  const file = project.upwards(wrapper);
  if (file === undefined) return program;
  const depth = (path: string | undefined) => (path ? path.split('/').length : 0);
  const steps = depth(project.path) - depth(parentOf(file));
  return steps === 0 ? `./${wrapper}` : `${'../'.repeat(steps)}${wrapper}`;
}
