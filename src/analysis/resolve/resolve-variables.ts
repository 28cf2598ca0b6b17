/** One list of variables from everyone who named one. */
import type { Findings } from '../collect-findings.ts';
import type { VariableFinding } from '../detector.ts';
import type { FieldEvidence } from '../evidence.ts';
import type { Repository } from '../repository.ts';
import type { NeededService, Variable, Warning } from '../result.ts';
import { appsOf } from './apps-of.ts';
import { isGivenByPlatform } from './platform-names.ts';
import { servicesOfVariable } from './service-names.ts';
import { hasCredentials, isBuildVariable, isGenerated, isSecretName } from './variable-names.ts';

/** More than a person could fill in; a file with more of them is not an example of an environment. */
const mostVariables = 500;
const keyForm = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export function resolveVariables(
  findings: Findings,
  apps: readonly string[],
  services: readonly NeededService[],
  repository: Repository,
  evidence: FieldEvidence[],
): { readonly variables: readonly Variable[]; readonly warnings: readonly Warning[] } {
  const usable = findings.variables.filter(({ key }) => keyForm.test(key) && !isGivenByPlatform(key));
  const byKey = [...Map.groupBy(usable, ({ key }) => key)].sort(([one], [other]) => (one < other ? -1 : 1));
  const variables = byKey.slice(0, mostVariables).map(([key, seen], index) => {
    for (const { source } of seen.slice(0, 5)) evidence.push({ ...source, field: `variables[${index}]` });
    const value = seen.find((each) => each.default !== undefined)?.default ?? null;
    const given = seen.find((each) => each.given)?.given ?? givenBy(key, services);
    const isSecret = seen.find((each) => each.secret !== undefined)?.secret;
    return {
      key,
      required: isRequired(seen, given),
      secret: isSecret === true || isSecretName(key) || hasCredentials(value),
      build: isBuildVariable(key) || seen.some(({ build }) => build === true),
      default: value,
      given,
      reason: reasonOf(seen),
      apps: [...new Set(seen.flatMap(({ directory }) => appsOf(directory, apps, repository)))].sort(),
    };
  });
  const message = `Only ${mostVariables} of ${byKey.length} variables are listed.`;
  const isCut = byKey.length > mostVariables;
  return { variables, warnings: isCut ? [{ code: 'too_many_variables', message, file: null }] : [] };
}

/** Whoever says so outright; a value that somebody else gives is still needed to run. */
function isRequired(seen: readonly VariableFinding[], given: Variable['given']): boolean {
  if (seen.some(({ required }) => required === true)) return true;
  return given === 'service' && seen.every(({ required }) => required === undefined);
}

function givenBy(key: string, services: readonly NeededService[]): Variable['given'] {
  const kinds = servicesOfVariable(key);
  if (services.some(({ kind }) => kinds.includes(kind))) return 'service';
  return isGenerated(key) ? 'generate' : null;
}

function reasonOf(seen: readonly VariableFinding[]): string {
  const [first] = seen;
  if (!first) return '';
  const more = seen.length > 1 ? ` and ${seen.length - 1} more` : '';
  return `${first.source.note} (${first.source.file}${more})`;
}
