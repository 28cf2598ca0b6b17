/** What a Gemfile and its lock file say. The Gemfile is a program; its lines of the usual form are read. */

import { certain, type Evidenced, evidenced } from '../../evidence.ts';
import { join, type Repository } from '../../repository.ts';
import { findIn, linesOf } from '../code.ts';

export interface Gems {
  readonly file: string;
  /** Named in the Gemfile, those for development and tests left out. */
  readonly direct: ReadonlySet<string>;
  readonly version: (gem: string) => string | undefined;
  readonly ruby: Evidenced<string> | undefined;
  readonly lockedRuby: Evidenced<string> | undefined;
  readonly bundler: string | null;
}

export function readGems(repository: Repository, directory: string): Gems {
  const file = repository.firstOf(directory, ['Gemfile', 'gems.rb']) ?? join(directory, 'Gemfile');
  const lock =
    repository.firstOf(directory, ['Gemfile.lock', 'gems.locked']) ?? join(directory, 'Gemfile.lock');
  const locked = repository.parsed(lock, 'gems', readLock) ?? {
    versions: new Map(),
    ruby: undefined,
    bundler: undefined,
  };
  const ruby = findIn(repository, file, /^\s*ruby\s*\(?\s*["']([^"']+)["']/);
  return {
    file,
    direct: directGems(repository, file),
    version: (gem) =>
      locked.versions.get(gem) ??
      findIn(repository, file, new RegExp(`^\\s*gem\\s+["']${gem}["']\\s*,\\s*["'][^\\d"']*([\\d.]+)`))
        ?.match[1],
    ruby: ruby && evidenced(ruby.match[1] ?? '', certain, file, ruby.text.trim(), ruby.line),
    lockedRuby:
      locked.ruby === undefined ? undefined : evidenced(locked.ruby, certain, lock, `ruby ${locked.ruby}`),
    bundler: locked.bundler ?? null,
  };
}

function directGems(repository: Repository, file: string): ReadonlySet<string> {
  const found = new Set<string>();
  const groups: boolean[] = [];
  for (const line of linesOf(repository, file)) {
    const text = line.trim();
    if (text.startsWith('#')) continue;
    const group = /^group\b(.*)\bdo\b/.exec(text)?.[1];
    if (/\bdo\b(?:\s*\|[^|]*\|)?$/.test(text)) groups.push(group !== undefined && isForDevelopment(group));
    else if (text === 'end') groups.pop();
    const gem = /^gem\s*\(?\s*["']([\w.-]+)["']/.exec(text)?.[1];
    const own = /\bgroups?:\s*(.*)$/.exec(text)?.[1];
    if (gem === undefined || groups.includes(true) || (own !== undefined && isForDevelopment(own))) continue;
    found.add(gem);
  }
  return found;
}

function isForDevelopment(groups: string): boolean {
  return /:(?:development|test)\b/.test(groups) && !/:production\b/.test(groups);
}

function readLock(text: string): {
  versions: ReadonlyMap<string, string>;
  ruby: string | undefined;
  bundler: string | undefined;
} {
  const versions = new Map<string, string>();
  let section = '';
  let [ruby, bundler]: (string | undefined)[] = [];
  for (const line of text.split('\n', 20_000)) {
    if (/^[A-Z]/.test(line)) section = line.trim();
    const gem = /^ {4}([\w.-]{1,100}) \(([\w.-]{1,40})\)$/.exec(line);
    if (gem) versions.set(gem[1] ?? '', gem[2] ?? '');
    if (section === 'RUBY VERSION') ruby ??= /^\s+ruby (\d+\.\d+\.\d+)/.exec(line)?.[1];
    if (section === 'BUNDLED WITH') bundler ??= /^\s+(\d+\.[\d.]+)/.exec(line)?.[1];
  }
  return { versions, ruby, bundler };
}
