/**
 * Chooses. Detectors, workspace files, platform files and finders have each said what they saw; here it becomes one
 * answer. Owns which folders are apps, who is believed where two say different things, and the evidence. It reads no
 * files of its own.
 */
import type { Findings } from './collect-findings.ts';
import type { FieldEvidence } from './evidence.ts';
import { join, type Repository } from './repository.ts';
import { describeApp } from './resolve/describe-app.ts';
import { languageShares } from './resolve/language-shares.ts';
import { resolveApps } from './resolve/resolve-apps.ts';
import { resolveServices } from './resolve/resolve-services.ts';
import { resolveVariables } from './resolve/resolve-variables.ts';
import type { AnalysisResult, App, Monorepo, Warning } from './result.ts';

const mostWarnings = 200;
const composeNames = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'];

export function resolve(repository: Repository, findings: Findings, root: string): AnalysisResult {
  const evidence: FieldEvidence[] = [];
  const chosen = resolveApps(repository, findings, root);
  const apps = chosen.map((app, index) => {
    const { described, sources } = describeApp(app, repository);
    for (const { field, ...source } of sources)
      evidence.push({ ...source, field: `apps[${index}].${field}` });
    return described;
  });
  const folders = chosen.map(({ directory }) => directory);
  const services = resolveServices(findings, folders, repository, evidence);
  const { variables, warnings } = resolveVariables(findings, folders, services, repository, evidence);
  const monorepo = resolveMonorepo(findings, root, evidence);
  const composeFile = repository.firstOf(root, composeNames) ?? repository.firstOf('', composeNames) ?? null;
  if (composeFile !== null)
    evidence.push({ field: 'composeFile', file: composeFile, note: 'the compose file' });
  const languages = languageShares(repository, root);
  return {
    apps,
    services,
    variables,
    composeFile,
    monorepo,
    languages,
    warnings: shownWarnings([
      ...repository.unreadable,
      ...findings.warnings,
      ...warnings,
      ...ofNothing(apps),
    ]),
    evidence,
  };
}

function ofNothing(apps: readonly App[]): readonly Warning[] {
  const message = 'Nothing was found here that could be built and run.';
  return apps.length > 0 ? [] : [{ code: 'nothing_to_run', message, file: null }];
}

/** The same is seen by several: of a workspace's two lock files every member tells. Whoever a hundred thousand of them gets the first. */
function shownWarnings(all: readonly Warning[]): readonly Warning[] {
  const warnings = [...new Map(all.map((each) => [`${each.code}\0${each.message}`, each])).values()];
  if (warnings.length <= mostWarnings) return warnings;
  const message = `${warnings.length - mostWarnings} more warnings are not shown.`;
  return [...warnings.slice(0, mostWarnings), { code: 'more_warnings', message, file: null }];
}

function resolveMonorepo(findings: Findings, root: string, evidence: FieldEvidence[]): Monorepo | null {
  // The one nearest to the top: a workspace inside a workspace is a member of it.
  const fitting = findings.workspaces
    .filter((each) => each.members.length > 0)
    .filter(
      (each) => each.root === root || root.startsWith(each.root) || each.root.startsWith(join(root, '')),
    )
    .sort((one, other) => one.root.length - other.root.length || other.members.length - one.members.length);
  const [first] = fitting;
  if (!first) return null;
  evidence.push({ ...first.source, field: 'monorepo' });
  return { kind: first.kind, tool: first.tool, members: [...first.members].sort() };
}
