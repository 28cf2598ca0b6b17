/** Where declarations lie, and of which folder they speak. */

import { join, nameOf, type Repository } from '../repository.ts';
import type { Warning } from '../result.ts';
import { isAnalysed } from '../variables/analysed-folders.ts';

/** Every folder in which the app of somebody could be, with the files in it. */
export function* filesNamed(repository: Repository, names: readonly string[]): Generator<string> {
  let count = 0;
  for (const [path, { files }] of repository.directories) {
    if (!isAnalysed(repository, path)) continue;
    for (const name of names) {
      if (!files.has(name)) continue;
      count += 1;
      if (count > mostFiles) return;
      yield join(path, name);
    }
  }
}

/** Of one name; what a person keeps by hand is far less. */
const mostFiles = 100;
const largest = 256 * 1024;

/** Parsing is synchronous and takes its time: what nobody can have written by hand is not worth it. */
export function tooLarge(repository: Repository, path: string): Warning | undefined {
  const size = repository.bytes(path)?.length ?? 0;
  const message = `${path} has ${size} bytes and was not read.`;
  return size > largest ? { code: 'file_too_large', message, file: path } : undefined;
}

/** `./web/`, `web` and `/web` under a folder; `undefined` where it would lead out or is not there. */
export function existingFolder(repository: Repository, from: string, value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return from;
  if (typeof value !== 'string' || value.length > 300) return undefined;
  const parts = value.startsWith('/') || from === '' ? [] : from.split('/');
  for (const part of value.split('/')) {
    if (part === '..') {
      if (parts.length === 0) return undefined;
      parts.pop();
    } else if (part !== '' && part !== '.') parts.push(part);
  }
  const path = parts.join('/');
  return repository.directory(path) ? path : undefined;
}

export function existingFile(repository: Repository, from: string, value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const folder = existingFolder(repository, from, value.slice(0, Math.max(0, value.lastIndexOf('/'))) || '.');
  if (folder === undefined) return undefined;
  const path = join(folder, nameOf(value));
  return repository.has(path) ? path : undefined;
}

/** Files that say: here is a project of its own. */
const manifests = new Set([
  ...['package.json', 'deno.json', 'deno.jsonc', 'index.html'],
  ...['requirements.txt', 'pyproject.toml', 'Pipfile', 'setup.py', 'manage.py'],
  ...['go.mod', 'Cargo.toml', 'pom.xml', 'build.gradle', 'build.gradle.kts', 'build.sbt'],
  ...['composer.json', 'index.php', 'Gemfile', 'config.ru', 'mix.exs', 'rebar.config'],
  ...['project.clj', 'deps.edn', 'stack.yaml', 'package.yaml', 'shard.yml', 'pubspec.yaml', 'Package.swift'],
  ...['build.zig', 'gleam.toml', 'CMakeLists.txt', 'meson.build'],
]);
/** Of those that carry the name of the project. */
const manifestEndings = ['.csproj', '.fsproj', '.cabal'];

export function hasManifest(repository: Repository, folder: string): boolean {
  for (const name of repository.directory(folder)?.files ?? [])
    if (manifests.has(name) || manifestEndings.some((end) => name.endsWith(end))) return true;
  return false;
}
