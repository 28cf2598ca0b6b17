/** Goes through the sources that were read and collects what they read from the environment. */
import type { VariableFinding } from '../detector.ts';
import { join, parentOf, type Repository } from '../repository.ts';
import { isAnalysed } from './analysed-folders.ts';
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
/** Run by hand or by tests, not by the app. */
const besideTheApp =
  /(?:^|\/)(?:scripts?|docs?|tools?|tooling|hack|\.storybook|storybook|infra|terraform|cdk|ansible|helm|k8s|ci)\/|(?:^|\/)(?:playwright|cypress|jest|vitest|wdio|karma|codegen|eslint|prettier|commitlint|release|semantic-release|lint-staged|gulpfile|Gruntfile|dangerfile|noxfile|fabfile|tasks|conftest)(?:\.config|\.setup)?\.[\w.]{1,8}$/;

export function variablesInCode(repository: Repository): readonly VariableFinding[] {
  const found: VariableFinding[] = [];
  for (const path of repository.filesUnder('', [''])) {
    const isDefault = isFrameworkDefault(repository, path);
    for (const whole of readsKept(repository, path)) {
      const read = isDefault
        ? { key: whole.key, line: whole.line, required: whole.key === 'APP_KEY' }
        : whole;
      const finding = findingOf(read, path);
      if (finding && isDefault) onlyIfNamed.add(finding);
      if (finding) found.push(finding);
    }
  }
  return found;
}

/** Of variables that these read, only those count that something else names too. */
export const onlyIfNamed = new WeakSet<VariableFinding>();

const parts = 8;
const kept = new WeakMap<Repository, Map<string, readonly FileRead[]>>();

/**
 * The sources are gone through in parts, so that whoever calls one after the other can do something else in between;
 * what was found is kept for the finder.
 */
export const scans: readonly ((repository: Repository) => void)[] = Array.from(
  { length: parts },
  (_, part) => {
    return (repository: Repository) => {
      let at = 0;
      for (const path of repository.filesUnder('', [''])) {
        if (at % parts === part) readsKept(repository, path);
        at += 1;
      }
    };
  },
);

function readsKept(repository: Repository, path: string): readonly FileRead[] {
  const files = kept.get(repository) ?? new Map<string, readonly FileRead[]>();
  kept.set(repository, files);
  const before = files.get(path);
  if (before) return before;
  const reads = isAside(repository, path) ? [] : unlike(readsOf(repository, path));
  files.set(path, reads);
  return reads;
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

function isAside(repository: Repository, path: string): boolean {
  return besideTheApp.test(repository.folders.within(path)) || !isAnalysed(repository, parentOf(path) ?? '');
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
function findingOf(read: FileRead, file: string): VariableFinding | undefined {
  const isAway = read.default !== undefined && serviceOf(read.key) !== undefined && isLocal(read.default);
  return mentioned({
    key: read.key,
    directory: parentOf(file) ?? '',
    source: { file, line: read.line, note: `reads ${read.key}` },
    value: read.default,
    required: isAway ? true : read.required,
    build: read.build,
  });
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
