/** What a step is computed from. It is undefined where the server is as desired already. */
import { unifiedDiff } from '../diff.ts';
import type { FileChange, StepId, StepPlan } from '../plan.ts';
import type { PlanRequest } from '../plan-request.ts';
import type { ServerState } from '../server-state.ts';

export interface Planning {
  readonly state: ServerState;
  readonly request: PlanRequest;
  note(step: StepId, text: string): void;
}

export type StepMaker = (planning: Planning) => StepPlan | undefined;

type Optional = 'lockoutRisk' | 'packages' | 'files' | 'commands' | 'alsoTouches' | 'checks' | 'undo';

export function step(about: Omit<StepPlan, Optional> & Partial<Pick<StepPlan, Optional>>): StepPlan {
  const nothing = { packages: [], files: [], commands: [], alsoTouches: [], checks: [], undo: [] };
  return { lockoutRisk: false, ...nothing, ...about };
}

export function fileChange(state: ServerState, path: string, after: string, mode = '0644'): FileChange {
  const before = state.files.get(path) ?? null;
  return { path, before, after, mode, diff: unifiedDiff(path, before, after) };
}

export function isUnchanged(files: readonly FileChange[]): boolean {
  return files.every((file) => file.before === file.after);
}

export function missingPackages(state: ServerState, packages: readonly string[]): string[] {
  return packages.filter((each) => !state.packages.has(each));
}

export const header = '# Written by Slipway. Changes here are noticed, and not overwritten.\n';
