/** A value in the configuration of a framework, by its path. */
import { isParsed, join, type Repository } from '../../repository.ts';

/** The first of these files that is there. */
export function configFile(
  repository: Repository,
  directory: string,
  names: readonly string[],
): string | undefined {
  return names.map((name) => join(directory, name)).find((path) => repository.has(path));
}

export function valueAt(data: unknown, path: string): unknown {
  let at = data;
  for (const key of path.split('.')) {
    if (!isParsed(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
}

/** A folder as it is written in configuration, from the folder of the app. */
export function folderOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 300) return undefined;
  const parts = value.split('/').filter((part) => part !== '' && part !== '.');
  return parts.length === 0 || parts.includes('..') ? undefined : parts.join('/');
}

/** A call that the configuration keeps, as in `adapter: node()`: the module that it comes from. */
export function moduleOfCall(value: unknown): string | undefined {
  return isParsed(value) && typeof value.$from === 'string' ? value.$from : undefined;
}

export function argumentOfCall(value: unknown): unknown {
  return isParsed(value) && Array.isArray(value.$arguments) ? value.$arguments[0] : undefined;
}
