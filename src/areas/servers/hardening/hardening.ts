/**
 * Hardening of a server that cannot lock anyone out. Owns the plan, what is put on the server, the record of how it
 * was before, and the dead-man timer that takes a risky step back unless a new login has proven it. Refuses to edit
 * a vendor's file, to run anything but the plan that was shown, to touch a file that someone has changed since, and
 * to count a step as done before a fresh login went through. Knows nothing of HTTP, accounts or the database.
 */
export { type ApplyOptions, applyStep, type StepOutcome } from './apply.ts';
export { makePlan } from './make-plan.ts';
export type { Change, Entry, StepManifest } from './manifest.ts';
export { type FileChange, type Plan, type PlanNote, type StepId, type StepPlan, stepIds } from './plan.ts';
export type { Wish } from './plan-request.ts';
export { type RunRecord, readRuns } from './runs.ts';
export { type UndoOutcome, undoRun } from './undo.ts';
