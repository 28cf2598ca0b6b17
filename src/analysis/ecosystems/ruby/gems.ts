/** What a Gemfile and its lock file say. The Gemfile is a program; its lines of the usual form are read. */
import { certain, type Evidenced, evidenced, evidencedBy } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import type { Repository } from '../../repository.ts';
import { toolVersion } from '../tool-versions.ts';
import { versionLine } from '../version-lines.ts';

export interface Gems {
  readonly file: string;
  readonly lockFile: string | undefined;
  /** Named in the Gemfile, those for development and tests left out. */
  readonly direct: ReadonlySet<string>;
  readonly version: (gem: string) => string | undefined;
  readonly ruby: Evidenced<string> | undefined;
  readonly bundler: string | null;
}

export function readGems(project: Project): Gems {
  const { repository } = project;
  const file = project.first('Gemfile', 'gems.rb') ?? project.at('Gemfile');
  const lockFile = project.first('Gemfile.lock', 'gems.locked');
  const locked = lockFile === undefined ? undefined : lockedGems(repository, lockFile);
  const asked = repository.find(file, /^\s*ruby\s*\(?\s*["']([^"']+)["']/);
  const range = asked && evidencedBy(asked, asked.match[1] ?? '');
  // Bundler refuses any other; where the Gemfile leaves it open, a version manager's file has the one in use.
  const exactly = /^\d/.test(range?.value ?? '') ? range : undefined;
  const lockedRuby =
    locked?.ruby === undefined || lockFile === undefined
      ? undefined
      : evidenced(locked.ruby, certain, lockFile, `ruby ${locked.ruby}`);
  return {
    file,
    lockFile,
    direct: directGems(repository, file),
    version: (gem) =>
      locked?.versions.get(gem) ??
      repository.capture(file, new RegExp(`^\\s*gem\\s+["']${gem}["']\\s*,\\s*["'][^\\d"']*([\\d.]+)`)),
    ruby: versionLine('ruby', exactly ?? toolVersion(project, 'ruby') ?? range ?? lockedRuby),
    bundler: locked?.bundler ?? null,
  };
}

export function directGems(repository: Repository, file: string): ReadonlySet<string> {
  const found = new Set<string>();
  const groups: boolean[] = [];
  for (const line of repository.lines(file)) {
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

interface LockedGems {
  readonly versions: ReadonlyMap<string, string>;
  readonly ruby: string | undefined;
  readonly bundler: string | undefined;
}

export function lockedGems(repository: Repository, file: string): LockedGems | undefined {
  return repository.parsed(file, 'gems', readLock);
}

function readLock(text: string): LockedGems {
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
