/** What several say of one app, made one. */
import type { AppDraft, Candidate, Declaration } from '../detector.ts';
import type { Evidenced } from '../evidence.ts';

const fields = [
  'name',
  'language',
  'framework',
  'packageManager',
  'installCommand',
  'buildCommand',
  'startCommand',
  'releaseCommand',
  'staticOutput',
  'port',
  'healthPath',
  'dockerfile',
] as const;

/** A JavaScript toolchain in the folder of an app adds its install and build; the app keeps everything else. */
export function withToolchain(app: AppDraft, helper: Candidate): AppDraft {
  const { draft } = helper;
  // Only JavaScript builds things for others; a Python script beside a Go service is nobody's toolchain.
  if (helper.ecosystem !== 'node' || helper.role === 'library' || !draft.buildCommand?.value) return app;
  const buildsItself = app.buildCommand?.value?.includes('assets:precompile') === true;
  const installCommand = joined(app.installCommand, draft.installCommand);
  const buildCommand = buildsItself ? app.buildCommand : joined(draft.buildCommand, app.buildCommand);
  return {
    ...app,
    versions: { ...draft.versions, ...app.versions },
    ...(installCommand ? { installCommand } : {}),
    ...(buildCommand ? { buildCommand } : {}),
  };
}

function joined(
  first: Evidenced<string | null> | undefined,
  second: Evidenced<string | null> | undefined,
): Evidenced<string | null> | undefined {
  if (!first?.value) return second ?? first;
  if (!second?.value || second.value === first.value) return first;
  return {
    value: `${first.value} && ${second.value}`,
    source: first.source,
    certainty: Math.min(first.certainty, second.certainty),
  };
}

/**
 * Field by field, the highest precedence last. One of 1 or more counts over everything detected; a lower one (a
 * Dockerfile's EXPOSE) only over what is less certain than that number.
 */
export function applyDeclarations(draft: AppDraft, declarations: readonly Declaration[]): AppDraft {
  const ordered = [...declarations].sort((one, other) => one.precedence - other.precedence);
  const settled = ordered.reduce(
    (before, { draft: said, precedence }) => settle(before, said, precedence),
    draft,
  );
  return withFallback(settled, ordered.findLast(({ draft: said }) => said.singlePage)?.draft.singlePage);
}

/** Last, since the file of fallbacks speaks of whatever folder is served in the end. */
function withFallback(draft: AppDraft, singlePage: Evidenced<boolean> | undefined): AppDraft {
  const output = draft.staticOutput;
  if (!singlePage || !output?.value || output.value.isSinglePage === singlePage.value) return draft;
  const value = { ...output.value, isSinglePage: singlePage.value };
  return { ...draft, staticOutput: { ...output, value }, singlePage };
}

function settle(before: AppDraft, said: AppDraft, precedence: number): AppDraft {
  const versions =
    precedence >= 1 ? { ...before.versions, ...said.versions } : { ...said.versions, ...before.versions };
  let after: AppDraft = { ...before, versions };
  for (const field of fields) {
    const value = said[field];
    const known = before[field];
    if (!value) continue;
    if (field === 'staticOutput' && isServerOutput(before, said)) continue;
    if (known === undefined || precedence >= 1 || known.certainty < precedence)
      after = { ...after, [field]: value };
  }
  // A site is either served by us or by a process of its own; whoever spoke last decides.
  if (after.startCommand?.value && after.startCommand === said.startCommand && !said.staticOutput) {
    const { staticOutput: _, ...rest } = after;
    after = rest;
  }
  if (after.staticOutput?.value && after.staticOutput === said.staticOutput && !said.startCommand) {
    const { startCommand: _start, port: _port, ...rest } = after;
    after = rest;
  }
  return {
    ...after,
    processes: byKey([...(before.processes ?? []), ...(said.processes ?? [])], ({ value }) => value.name),
    volumes: byKey([...(before.volumes ?? []), ...(said.volumes ?? [])], ({ value }) => value),
  };
}

/** `publish = ".next"` names what a server reads, not what a browser gets. */
function isServerOutput(before: AppDraft, said: AppDraft): boolean {
  return Boolean(before.startCommand?.value) && said.staticOutput?.value?.directory.startsWith('.') === true;
}

/** The last of each key, at the place of the first. */
function byKey<T>(all: readonly T[], key: (each: T) => string): T[] {
  return [...new Map(all.map((each) => [key(each), each])).values()];
}
