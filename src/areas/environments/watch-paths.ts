/** Paths whose change deploys: folders, or patterns that can be matched. */
import { Fault } from '../../fault.ts';
import { alternativesOf } from '../../glob.ts';

export function checkWatchPaths(paths: readonly string[]): void {
  const errors = paths.flatMap((path, index) => {
    const message = wrongIn(path);
    return message === undefined ? [] : [{ path: `watchPaths[${index}]`, message }];
  });
  if (errors.length > 0)
    throw new Fault('invalid_input', 'A path to watch is not one that can be matched.', { errors });
}

function wrongIn(path: string): string | undefined {
  if (/[()!]/.test(path)) return 'must be a folder or a pattern without `!` and round brackets';
  const names = path.replace(/\/$/, '').split('/');
  if (names.some((name) => name.trim() === '' || name === '.' || name === '..'))
    return 'must be written from the root of the repository, without `.`, `..` and empty names, such as `apps/web`';
  if (alternativesOf(path) === undefined) return 'must stand for fewer alternatives: its `{…}` are too many';
  return undefined;
}
