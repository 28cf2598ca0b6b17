/**
 * Which folders are apps, and what is known of each. The outermost app of a tree takes what lies under it, unless a
 * workspace, a platform file or a Dockerfile of its own says that something there stands for itself.
 */
import { type Findings, isUnder } from '../collect-findings.ts';
import type { AppDraft, Candidate, Declaration } from '../detector.ts';
import { parentOf, type Repository } from '../repository.ts';
import { applyDeclarations, withToolchain } from './merge-drafts.ts';

export interface ChosenApp {
  readonly directory: string;
  readonly draft: AppDraft;
  readonly score: number;
  /** No detector saw an app here; a file declares one. */
  readonly isOnlyDeclared: boolean;
}

/** Below this a candidate is a guess, and gives way to what is surer elsewhere. */
const sure = 0.5;

export function resolveApps(repository: Repository, findings: Findings, root: string): ChosenApp[] {
  const byFolder = Map.groupBy(findings.candidates, ({ directory }) => directory);
  const declared = Map.groupBy(findings.declarations, ({ directory }) => directory);
  const members = new Set(findings.workspaces.flatMap((each) => each.members));
  const folders = [...new Set([...byFolder.keys(), ...declared.keys()])]
    .filter((folder) => isUnder(folder, root) && repository.directory(folder) !== undefined)
    .sort((one, other) => one.length - other.length || (one < other ? -1 : 1));
  const chosen = new Map<string, ChosenApp>();
  for (const least of [sure, 0]) {
    for (const folder of folders) {
      const app = appIn(folder, byFolder.get(folder) ?? [], declared.get(folder) ?? [], least);
      if (!app) continue;
      const above = nearest(parentOf(folder), chosen);
      const standsAlone = members.has(folder) || makesApp(declared.get(folder) ?? []);
      if (above === undefined || standsAlone) chosen.set(folder, app);
    }
    if (chosen.size > 0) break;
  }
  // Of mere guesses one is enough.
  const all = [...chosen.values()];
  const guesses = all.every(({ score }) => score < sure);
  const kept = guesses ? all.sort((one, other) => other.score - one.score).slice(0, 1) : all;
  return lendDockerfile(kept, declared.get(root) ?? [], root).sort((one, other) =>
    one.directory < other.directory ? -1 : 1,
  );
}

function appIn(
  directory: string,
  candidates: readonly Candidate[],
  declarations: readonly Declaration[],
  least: number,
): ChosenApp | undefined {
  const ranked = [...candidates].sort((one, other) => other.score - one.score);
  const best = ranked.find(({ role, score }) => role === 'app' && score >= least);
  const base = best ?? (makesApp(declarations) ? ranked[0] : undefined);
  if (!best && !makesApp(declarations)) return undefined;
  const helpers = ranked.filter((each) => each !== base && each.ecosystem !== base?.ecosystem);
  const draft = helpers.reduce((before, helper) => withToolchain(before, helper), base?.draft ?? {});
  return {
    directory,
    draft: applyDeclarations(draft, declarations),
    score: Math.max(best?.score ?? 0, makesApp(declarations) ? sure : 0),
    isOnlyDeclared: best === undefined,
  };
}

/** A file that only adds a header or a redirect says nothing of an app. */
function makesApp(declarations: readonly Declaration[]): boolean {
  return declarations.some(({ draft }) =>
    [draft.startCommand, draft.staticOutput, draft.dockerfile].some(
      (each) => each !== undefined && each.value !== null,
    ),
  );
}

function nearest(folder: string | undefined, chosen: ReadonlyMap<string, ChosenApp>): ChosenApp | undefined {
  for (let at = folder; at !== undefined; at = parentOf(at)) {
    const app = chosen.get(at);
    if (app) return app;
  }
  return undefined;
}

/**
 * A Dockerfile at the top of a workspace, where nothing else is an app, builds its members: with one there is no doubt
 * which, with several the members themselves are the better answer.
 */
function lendDockerfile(apps: ChosenApp[], atRoot: readonly Declaration[], root: string): ChosenApp[] {
  const top = apps.find(({ directory }) => directory === root);
  const others = apps.filter((each) => each !== top);
  const dockerfile = top?.draft.dockerfile;
  const [only] = others;
  if (!top?.isOnlyDeclared || !dockerfile || !only) return apps;
  // A platform file at the top means the top.
  if (atRoot.some(({ precedence }) => precedence >= 1)) return apps;
  const isClear = others.length === 1 && only.draft.dockerfile === undefined;
  return isClear ? [{ ...only, draft: { ...only.draft, dockerfile } }] : others;
}
