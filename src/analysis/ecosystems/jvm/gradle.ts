/**
 * A Gradle build, read line by line: its files are programs, and most of what matters stands in lines of a few known
 * forms. What is computed there stays unknown.
 */

import { type Evidenced, evidencedBy } from '../../evidence.ts';
import { Project } from '../../project.ts';
import { join, nameOf, parentOf, type Repository } from '../../repository.ts';
import { workspaceFinder } from '../workspace-members.ts';

export interface GradleProject {
  readonly file: string;
  readonly name: string;
  readonly version: string | undefined;
  /** Lines with plugins and dependencies, those for tests left out, in small letters. */
  readonly lines: readonly string[];
  readonly java: Evidenced<string> | undefined;
  readonly archive: string | undefined;
  readonly hasPlugin: (name: string) => boolean;
}

const buildFiles = ['build.gradle', 'build.gradle.kts'];
export const settingsFiles = ['settings.gradle', 'settings.gradle.kts'];

/** Several projects in one build. One alone is no workspace. */
export const gradleWorkspace = workspaceFinder('gradle', settingsFiles, 'include', (repository, file) => {
  const members = gradleProjects(repository, file);
  return members.length < 2 ? [] : members;
});

export function readGradle(project: Project): GradleProject | undefined {
  const { repository, path } = project;
  const file = project.first(...buildFiles);
  if (file === undefined) return undefined;
  const settings = project.upwards(...settingsFiles);
  const top = settings === undefined ? undefined : (parentOf(settings) ?? '');
  const named =
    settings !== undefined && top === path
      ? repository.capture(settings, /rootProject\.name\s*=\s*["']([\w.-]+)["']/)
      : undefined;
  const root = top === undefined ? undefined : new Project(repository, top).first(...buildFiles);
  const properties = project.upwards('gradle.properties');
  const version =
    repository.capture(file, /^\s*version\s*=?\s*["']([\w.+-]+)["']/) ??
    (properties && repository.capture(properties, /^version\s*=\s*([\w.+-]+)$/)) ??
    (root && repository.capture(root, /^\s+version\s*=?\s*["']([\w.+-]+)["']/));
  const lines = linesFor(repository, file, root, top ?? '');
  return {
    file,
    name: named || nameOf(path) || 'app',
    version: version || undefined,
    lines,
    java: javaVersion(repository, [file, ...(root ? [root] : [])]),
    archive: repository.capture(file, /\barchive(?:File)?Name\b[^"']{0,20}["']([\w.-]+\.jar)["']/),
    hasPlugin: (name) => lines.some((line) => isPlugin(line, name)),
  };
}

/** Without comments, tests, and plugins that are only named for subprojects. */
export function productionLines(repository: Repository, file: string): readonly string[] {
  return repository
    .lines(file)
    .map((line) => line.trim())
    .filter(
      (line) =>
        !/^(?:\/\/|\*|test|androidTest)/.test(line) && !/\bapply\s*(?:\(?\s*false|=\s*false)/.test(line),
    );
}

/** The catalogue of versions counts only for what the build file takes from it. */
function linesFor(
  repository: Repository,
  file: string,
  root: string | undefined,
  top: string,
): readonly string[] {
  const own = productionLines(repository, file);
  const applied = root !== undefined && root !== file ? productionLines(repository, root) : [];
  const aliases = repository.lines(join(top, 'gradle/libs.versions.toml')).filter((line) => {
    const alias = /^([\w-]+)\s*=/.exec(line)?.[1]?.replaceAll('-', '.');
    return (
      alias !== undefined &&
      own.some(
        (each) => each.includes(`.${alias})`) || each.includes(`.${alias} `) || each.endsWith(`.${alias}`),
      )
    );
  });
  return [...own, ...applied, ...aliases].map((line) => line.toLowerCase());
}

function isPlugin(line: string, name: string): boolean {
  const text = line.trim();
  if (text === name || text === `\`${name}\`` || text === `apply plugin: '${name}'`) return true;
  return (
    [`'${name}'`, `"${name}"`].some((each) => text.includes(each)) &&
    /\b(?:id|plugin|plugins|kotlin)\b/.test(text)
  );
}

function javaVersion(repository: Repository, files: readonly string[]): Evidenced<string> | undefined {
  const form =
    /(?:JavaLanguageVersion\.of|jvmToolchain|(?:source|target)Compatibility\s*=?|jvmTarget\s*=?|options\.release\s*=?|JavaVersion\.VERSION_|release\.set)[\s("'=]{0,4}(?:JavaVersion\.VERSION_|JvmTarget\.JVM_)?(?:1[._])?(\d{1,2})\b/;
  const hit = repository.find(files, form);
  return hit && evidencedBy(hit, hit.match[1] ?? '');
}

/** Folders of the projects that settings include: `:services:api` is services/api. */
export function gradleProjects(repository: Repository, settings: string): readonly string[] {
  const root = parentOf(settings) ?? '';
  const found = new Set<string>();
  let isInside = false;
  for (const line of repository.lines(settings)) {
    const text = line.replace(/\/\/.*/, '').trim();
    if (/^include\b(?!Build)/.test(text)) isInside = true;
    if (!isInside) continue;
    for (const match of text.matchAll(/["']:?([\w:./-]{1,200})["']/g)) {
      const folder = join(root, (match[1] ?? '').replaceAll(':', '/'));
      if (repository.firstOf(folder, buildFiles)) found.add(folder);
    }
    isInside = /[,(]$/.test(text) || (isInside && !text.endsWith(')') && text.endsWith(','));
  }
  return [...found];
}
