/** Which apps a finding speaks of, by where it was found. */
import { isUnder } from '../collect-findings.ts';
import { dependentsOf } from '../ecosystems/node/package-manager/dependents.ts';
import type { Repository } from '../repository.ts';

/**
 * The app it lies in; else those that use the library it lies in; else those that lie under it; else all. Given as
 * they stand in the result: `.` for the root.
 */
export function appsOf(
  directory: string,
  apps: readonly string[],
  repository: Repository,
): readonly string[] {
  const around = apps
    .filter((app) => isUnder(directory, app))
    .sort((one, other) => other.length - one.length);
  const [innermost] = around;
  const isOwn = innermost !== undefined && (innermost !== '' || apps.length === 1);
  if (isOwn) return [shown(innermost)];
  const using = dependentsOf(directory, apps, repository);
  if (using.length > 0) return using.map(shown);
  if (innermost !== undefined) return [shown(innermost)];
  const below = apps.filter((app) => isUnder(app, directory));
  return (below.length > 0 ? below : apps).map(shown);
}

function shown(directory: string): string {
  return directory === '' ? '.' : directory;
}
