/** Calls every detector, reader and finder. */
import { errorText } from '../fault.ts';
import { declarationReaders } from './declarations/declarations.ts';
import type {
  Candidate,
  Declaration,
  ServiceFinding,
  VariableFinding,
  WorkspaceFinding,
} from './detector.ts';
import { languageDetectors, languageWorkspaces } from './ecosystems/languages.ts';
import { nodeDetectors, nodeWorkspaces } from './ecosystems/node/node.ts';
import type { Progress } from './progress.ts';
import { Project } from './project.ts';
import { parentOf, type Repository } from './repository.ts';
import type { Warning } from './result.ts';
import { findServices } from './services/services.ts';
import { leakedSecrets } from './variables/env-files.ts';
import { variablesOf } from './variables/variables.ts';

export interface Findings {
  readonly candidates: readonly Candidate[];
  readonly workspaces: readonly WorkspaceFinding[];
  readonly declarations: readonly Declaration[];
  readonly services: readonly ServiceFinding[];
  readonly variables: readonly VariableFinding[];
  readonly warnings: readonly Warning[];
}

export interface CollectOptions {
  readonly root: string;
  readonly withSecondary: boolean;
  readonly progress: Progress;
}

export function collectFindings(repository: Repository, options: CollectOptions): Findings {
  const { root, progress } = options;
  const workspaces: WorkspaceFinding[] = [];
  const declarations: Declaration[] = [];
  const services: ServiceFinding[] = [];
  const variables: VariableFinding[] = [];
  const warnings: Warning[] = [];
  /** One that fails on a strange repository finds nothing, with a warning; the others go on. */
  const attempt: Attempt = (name, find) => {
    try {
      return find();
    } catch (error) {
      const message = `What ${name} would find is missing: ${errorText(error).slice(0, 200)}`;
      warnings.push({ code: 'detector_failed', message, file: null });
      return [];
    }
  };
  for (const finder of [nodeWorkspaces, ...languageWorkspaces])
    workspaces.push(...attempt(finder.name, () => finder.find(repository)));
  for (const reader of declarationReaders) {
    for (const found of attempt(reader.name, () => [reader.read(repository)])) {
      declarations.push(...(found.declarations ?? []));
      services.push(...(found.services ?? []));
      variables.push(...(found.variables ?? []));
      warnings.push(...(found.warnings ?? []));
    }
  }
  warnings.push(...attempt('leaked secrets', () => leakedSecrets(repository)));
  const candidates = collectCandidates(repository, options, attempt);
  warnings.push(...candidates.flatMap(({ draft }) => draft.warnings ?? []));
  if (!progress.isOver) services.push(...attempt('services', () => findServices(repository)));
  if (!progress.isOver) variables.push(...attempt('variables', () => variablesOf(repository)));
  const isInside = ({ directory }: { directory: string }) => concerns(directory, root);
  return {
    candidates,
    workspaces,
    declarations: declarations.filter(({ directory }) => isUnder(directory, root)),
    services: services.filter(isInside),
    variables: variables.filter(isInside),
    warnings,
  };
}

type Attempt = <T>(name: string, find: () => readonly T[]) => readonly T[];

function collectCandidates(
  repository: Repository,
  { root, withSecondary, progress }: CollectOptions,
  attempt: Attempt,
): readonly Candidate[] {
  const candidates: Candidate[] = [];
  for (const path of directoriesWithContent(repository)) {
    if (progress.isOver) break;
    if (!repository.directory(path) || !isUnder(path, root)) continue;
    const { kind } = repository.folders.of(path);
    if (kind === 'workshop' || (kind === 'secondary' && !withSecondary)) continue;
    const project = new Project(repository, path);
    for (const detector of [...nodeDetectors, ...languageDetectors])
      candidates.push(...attempt(detector.name, () => detector.detect(project)));
  }
  return candidates;
}

/** Where nothing was read, nothing can be found. From the root downwards. */
function directoriesWithContent(repository: Repository): readonly string[] {
  const found = new Set<string>(['', repository.root]);
  for (const path of repository.filesUnder('', [''])) found.add(parentOf(path) ?? '');
  return [...found].sort((one, other) => one.length - other.length || (one < other ? -1 : 1));
}

export function isUnder(path: string, root: string): boolean {
  return root === '' || path === root || path.startsWith(`${root}/`);
}

/** Under the root, or above it: a compose file at the top speaks of what is below. */
function concerns(path: string, root: string): boolean {
  return isUnder(path, root) || isUnder(root, path);
}
