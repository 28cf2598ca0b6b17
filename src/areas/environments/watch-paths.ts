/** Paths whose change deploys. They become patterns, so those that take for ever to match are refused. */
import { Fault } from '../../fault.ts';

/** Twice a star in one name, twice any depth: enough for what people write, too little to stall on. */
const mostStars = 2;

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
  if (names.filter((name) => name.includes('**')).length > mostStars)
    return `must have \`**\` at most ${mostStars} times`;
  const starsIn = (name: string) => [...name.matchAll(/\*+/g)].length;
  if (names.some((name) => starsIn(name) > mostStars))
    return `must have \`*\` at most ${mostStars} times between two slashes`;
  return undefined;
}
