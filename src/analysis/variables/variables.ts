/**
 * Which variables an app reads: from example files, from reads in code and configuration. Owns what counts as one, and
 * what a value beside it is worth; refuses to pass on a value that looks like a secret, and to name what only tests
 * and scripts read. What platform files list comes from `declarations/`.
 */
import type { VariableFinding } from '../detector.ts';
import type { Repository } from '../repository.ts';
import { variablesInCode } from './code-finder.ts';
import { variablesInEnvFiles } from './env-files.ts';

/** Once for each repository: the search for services asks for them too. */
export function variablesOf(repository: Repository): readonly VariableFinding[] {
  return repository.derived(findVariables);
}

function findVariables(repository: Repository): readonly VariableFinding[] {
  const all = [...variablesInEnvFiles(repository), ...variablesInCode(repository)];
  return [...Map.groupBy(all, ({ key }) => key).values()].flatMap(agreed);
}

/**
 * Code that stops without it decides. Else one place that goes on without it is enough (it is tested there, and the
 * other reads are behind the test), or a default that can be filled in. A mere mention asks for it.
 */
function agreed(mentions: readonly VariableFinding[]): readonly VariableFinding[] {
  if (mentions.every(({ onlyIfNamed }) => onlyIfNamed)) return [];
  const hasDefault = mentions.some((each) => each.default !== undefined);
  const isStrict = mentions.some(({ required }) => required === true);
  const isOptional = mentions.some(({ required }) => required === false);
  const required = !hasDefault && (isStrict || !isOptional);
  return mentions.map((finding) => ({ ...finding, required }));
}
