/**
 * A Gradle build, read line by line: its files are programs, and most of what matters stands in lines of a few known
 * forms. What is computed there stays unknown.
 */

import { certain, type Evidenced, evidenced } from '../../evidence.ts';
import { join, nameOf, parentOf, type Repository } from '../../repository.ts';
import { findIn, linesOf } from '../code.ts';
import { climb } from './maven.ts';

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
const settingsFiles = ['settings.gradle', 'settings.gradle.kts'];

export function readGradle(repository: Repository, directory: string): GradleProject | undefined {
  const file = repository.firstOf(directory, buildFiles);
  if (file === undefined) return undefined;
  const above = repository.upwards(directory, settingsFiles);
  const settings = above !== undefined && parentOf(above) === directory ? above : undefined;
  const named =
    settings && findIn(repository, settings, /rootProject\.name\s*=\s*["']([\w.-]+)["']/)?.match[1];
  const root = above === undefined ? undefined : repository.firstOf(parentOf(above) ?? '', buildFiles);
  const properties = repository.upwards(directory, ['gradle.properties']);
  const version =
    findIn(repository, file, /^\s*version\s*=?\s*["']([\w.+-]+)["']/)?.match[1] ??
    (properties && findIn(repository, properties, /^version\s*=\s*([\w.+-]+)$/)?.match[1]) ??
    (root && findIn(repository, root, /^\s+version\s*=?\s*["']([\w.+-]+)["']/)?.match[1]);
  const lines = linesFor(repository, file, root, above);
  return {
    file,
    name: named || nameOf(directory) || 'app',
    version: version || undefined,
    lines,
    java: javaVersion(repository, [file, ...(root ? [root] : [])]),
    archive: findIn(repository, file, /\barchive(?:File)?Name\b[^"']{0,20}["']([\w.-]+\.jar)["']/)?.match[1],
    hasPlugin: (name) => lines.some((line) => isPlugin(line, name)),
  };
}

/** The catalogue of versions counts only for what the build file takes from it. */
function linesFor(
  repository: Repository,
  file: string,
  root: string | undefined,
  settings: string | undefined,
): readonly string[] {
  const counts = (line: string) =>
    !/^\s*(?:\/\/|\*|test|androidTest)/.test(line) && !/\bapply\s*(?:\(?\s*false|=\s*false)/.test(line);
  const own = linesOf(repository, file).filter(counts);
  const applied = root !== undefined && root !== file ? linesOf(repository, root).filter(counts) : [];
  const catalogue = join(
    settings === undefined ? '' : (parentOf(settings) ?? ''),
    'gradle/libs.versions.toml',
  );
  const aliases = linesOf(repository, catalogue).filter((line) => {
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
  for (const file of files) {
    const hit = findIn(repository, file, form);
    if (hit) return evidenced(hit.match[1] ?? '', certain, file, hit.text.trim(), hit.line);
  }
  return undefined;
}

/** Folders of the projects that settings include: `:services:api` is services/api. */
export function gradleProjects(repository: Repository, settings: string): readonly string[] {
  const root = parentOf(settings) ?? '';
  const found = new Set<string>();
  let isInside = false;
  for (const line of linesOf(repository, settings)) {
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

export function gradleSettings(repository: Repository, directory: string): string | undefined {
  return repository.firstOf(directory, settingsFiles);
}

export function gradleCommand(repository: Repository, directory: string): string {
  const wrapper = repository.upwards(directory, ['gradlew']);
  return wrapper === undefined ? 'gradle' : climb(directory, parentOf(wrapper) ?? '', nameOf(wrapper));
}
