/** What is known of a site that a generator writes. */
import { join, type Repository } from '../../repository.ts';
import { findIn } from '../code.ts';

export interface Site {
  readonly name: string;
  readonly language: string;
  readonly file: string;
  readonly build: string;
  readonly output: string;
  readonly score?: number;
  /** What a site needs that lists no requirements of its own. */
  readonly needs?: string;
}

export function configOf(
  repository: Repository,
  directory: string,
  names: readonly string[],
): string | undefined {
  return names.map((name) => join(directory, name)).find((path) => repository.has(path));
}

/** A key in TOML, YAML or JSON, at the beginning of a line. */
export function siteValue(repository: Repository, file: string, key: string): string | undefined {
  return findIn(
    repository,
    file,
    new RegExp(String.raw`^\s*"?${key}"?\s*[:=]\s*["']?([\w./-]+)["']?\s*,?$`, 'i'),
  )?.match[1];
}

/** Documentation beside a program is not the app. */
export function hasCode(repository: Repository, directory: string): boolean {
  return (
    repository.firstOf(directory, [
      'package.json',
      'go.mod',
      'Cargo.toml',
      'pyproject.toml',
      'setup.py',
      'pom.xml',
      'composer.json',
    ]) !== undefined
  );
}
