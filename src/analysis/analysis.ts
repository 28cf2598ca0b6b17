/**
 * What a repository is, how it is built and run, and what it needs. Owns the judgement, from the files of one commit
 * to a result with evidence for every value. Pure: it refuses to run anything of the repository, to follow a link, to
 * ask the network, and to look at more than its limits allow.
 */
import { Fault } from '../fault.ts';
import { collectFindings } from './collect-findings.ts';
import { type AnalysisLimits, standardLimits } from './limits.ts';
import { Progress } from './progress.ts';
import { parseAhead } from './readers/parse-ahead.ts';
import { Repository } from './repository.ts';
import { resolve } from './resolve.ts';
import type { AnalysisResult, Warning } from './result.ts';
import { type Survey, selectFiles, survey } from './select-files.ts';
import type { FileTree } from './tree.ts';

export interface AnalysisOptions {
  readonly signal: AbortSignal;
  /** Only this folder and what is under it is an app; workspaces above it still count. */
  readonly rootDirectory?: string;
  readonly limits?: Partial<AnalysisLimits>;
  /** Told what is being looked at, all the time. */
  readonly note?: (what: string) => void;
}

interface Run {
  readonly tree: FileTree;
  readonly surveyed: Survey;
  readonly limits: AnalysisLimits;
  readonly root: string;
  readonly progress: Progress;
  readonly options: AnalysisOptions;
}

export async function analyse(tree: FileTree, options: AnalysisOptions): Promise<AnalysisResult> {
  const limits = { ...standardLimits, ...options.limits };
  const root = rootOf(options.rootDirectory ?? '');
  const progress = new Progress(limits.timeMs, options.note);
  const { entries, isComplete } = await tree.list(limits.entries, options.signal);
  options.signal.throwIfAborted();
  progress.note('the list of files');
  const surveyed = survey(entries, limits, root);
  const warnings: Warning[] = isComplete ? [] : [tooMany(limits.entries)];
  const run = {
    tree,
    surveyed: { ...surveyed, warnings: [...warnings, ...surveyed.warnings] },
    limits,
    root,
    progress,
    options,
  };
  const result = await analyseFolders(run, false);
  // Tests and examples are apps only where nothing else is.
  const isEmpty = result.apps.length === 0 && surveyed.hasSecondary && !progress.isOver;
  return isEmpty ? analyseFolders(run, true) : result;
}

async function analyseFolders(run: Run, withSecondary: boolean): Promise<AnalysisResult> {
  const { tree, surveyed, limits, root, progress, options } = run;
  const { folders } = surveyed;
  const selection = selectFiles(surveyed.entries, { limits, folders, withSecondary });
  const contents = await tree.read(selection.paths, options.signal);
  options.signal.throwIfAborted();
  const ahead = parseAhead(contents, progress);
  const repository = new Repository(surveyed.entries, contents, { ahead, folders, note: progress.note });
  if (!repository.directory(root)) throw noSuchFolder(root);
  const findings = collectFindings(repository, { root, withSecondary, progress });
  const warnings = [...surveyed.warnings, ...selection.warnings, ...findings.warnings];
  if (progress.isOver) warnings.push(timeOver(limits.timeMs));
  progress.note('what was found, to choose from it');
  return resolve(repository, { ...findings, warnings }, root);
}

function rootOf(given: string): string {
  const parts = given.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw noSuchFolder(given);
  return parts.join('/');
}

function noSuchFolder(folder: string): Fault {
  const message = 'The repository has no such folder.';
  return new Fault('invalid_input', `There is no folder "${folder.slice(0, 200)}" in the repository.`, {
    hint: 'Give a folder from the root of the repository, or leave it out.',
    errors: [{ path: 'rootDirectory', message }],
  });
}

function timeOver(timeMs: number): Warning {
  return { code: 'time_over', message: `The time of ${timeMs} ms was over before the end.`, file: null };
}

function tooMany(most: number): Warning {
  return {
    code: 'too_many_files',
    message: `The repository has more than ${most} files; only so many were looked at.`,
    file: null,
  };
}
