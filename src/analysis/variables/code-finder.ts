/** Goes through the sources that were read and collects what they read from the environment. */
import type { VariableFinding } from '../detector.ts';
import { join, parentOf, type Repository } from '../repository.ts';
import { isAnalysed } from './analysed-folders.ts';
import { asideIn } from './beside-the-app.ts';
import { configurationReader, linesRead } from './configuration-reads.ts';
import { serviceOf } from './names.ts';
import { type Read, readsIn } from './reads-in-code.ts';
import { settingsReads } from './settings-classes.ts';
import { specialReads } from './special-reads.ts';
import { grammars, tokensOf } from './tokens.ts';
import { isLocal } from './values.ts';
import { mentioned } from './variable.ts';

const scripted = new Set(['js', 'mjs', 'cjs', 'jsx', 'ts', 'mts', 'cts', 'tsx', 'vue', 'svelte', 'astro']);
const marks = ['env', 'ENV', 'Env', 'BaseSettings', '${', 'config('].map((text) => Buffer.from(text));

export function variablesInCode(repository: Repository): readonly VariableFinding[] {
  const found: VariableFinding[] = [];
  const isAside = asideIn(repository);
  for (const path of repository.filesUnder('', [''])) {
    const reads = unlike(readsOf(repository, path));
    if (reads.length === 0 || isAside(path) || !isAnalysed(repository, parentOf(path) ?? '')) continue;
    const isDefault = isFrameworkDefault(repository, path);
    for (const read of reads) found.push(...findingOf(read, path, isDefault));
  }
  return found;
}

/** The same read many times in one file says no more than once. */
function unlike(reads: readonly FileRead[]): readonly FileRead[] {
  if (reads.length < 2) return reads;
  const seen = new Map<string, FileRead>();
  for (const read of reads) {
    const said = `${read.key} ${read.required} ${read.default}`;
    if (!seen.has(said)) seen.set(said, read);
  }
  return [...seen.values()];
}

interface FileRead extends Omit<Read, 'build'> {
  readonly build?: boolean;
}

function readsOf(repository: Repository, path: string): readonly FileRead[] {
  const ending = path.slice(path.lastIndexOf('.') + 1);
  if (scripted.has(ending)) {
    const facts = repository.source(path)?.env ?? [];
    return facts.map(({ via, ...read }) => ({ ...read, ...(via === 'meta' ? { build: true } : {}) }));
  }
  const grammar = Object.hasOwn(grammars, ending) ? grammars[ending] : undefined;
  const lineReader = grammar ? undefined : configurationReader(path);
  if (!grammar && !lineReader) return [];
  const bytes = repository.bytes(path);
  if (!bytes || !marks.some((mark) => bytes.includes(mark))) return [];
  const text = repository.text(path) ?? '';
  if (lineReader) return linesRead(text, lineReader);
  if (!grammar) return [];
  const tokens = tokensOf(text, grammar);
  return [
    ...readsIn(tokens),
    ...specialReads(ending, tokens, grammar),
    ...(ending === 'py' ? settingsReads(text) : []),
  ];
}

/** An address of a service on the developer's machine is a default that helps nobody. */
function findingOf(read: FileRead, file: string, isDefault: boolean): VariableFinding[] {
  const { key, line } = read;
  const isAway = read.default !== undefined && serviceOf(key) !== undefined && isLocal(read.default);
  const said = isDefault
    ? { required: key === 'APP_KEY' }
    : { value: read.default, required: isAway ? true : read.required, build: read.build };
  const source = { file, line, note: `reads ${key}` };
  const finding = mentioned({ key, directory: parentOf(file) ?? '', source, ...said });
  return finding ? [isDefault ? { ...finding, onlyIfNamed: true } : finding] : [];
}

/** The configuration that comes with Laravel asks for a hundred variables and can do without nearly all of them. */
function isFrameworkDefault(repository: Repository, path: string): boolean {
  const top =
    /^((?:[^/]+\/)*)config\/(?:app|auth|broadcasting|cache|cors|database|filesystems|hashing|horizon|logging|mail|queue|sanctum|services|session|view|octane|reverb|scout|telescope|debugbar|livewire|passport)\.php$/.exec(
      path,
    )?.[1];
  if (top === undefined) return false;
  const folder = top.replace(/\/$/, '');
  return repository.has(join(folder, 'artisan')) && repository.has(join(folder, '.env.example'));
}
