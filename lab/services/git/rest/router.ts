/** Finds the operation for a path. The paths are GitHub's own templates, so that nothing is named twice. */
import type { Operation } from './operation.ts';

export interface Match {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
}

/** These may contain slashes: `feature/login`, `src/main.ts`. */
const long = new Set(['branch', 'ref', 'path', 'tree_sha']);

export function routerFor(operations: readonly Operation[]) {
  const routes = operations.flatMap((operation) =>
    templatesOf(operation.path).map((template) => ({ operation, pattern: patternOf(template) })),
  );
  return (method: string, path: string): Match | undefined => {
    for (const { operation, pattern } of routes) {
      if (operation.method !== method) continue;
      const found = pattern.exec(path);
      const params = found && decoded(found.groups ?? {});
      // No name of anything contains U+0000, and no process could be asked for it.
      if (params && !Object.values(params).some((value) => value.includes('\0')))
        return { operation, params };
    }
    return undefined;
  };
}

/** Every path of a repository is also there under its number. */
function templatesOf(path: string): string[] {
  const repository = '/repos/{owner}/{repo}';
  if (!path.startsWith(repository)) return [path];
  return [path, `/repositories/{repository_id}${path.slice(repository.length)}`];
}

function patternOf(template: string): RegExp {
  const source = template
    .replace('/contents/{path}', '/contents(?:/{path})?')
    .replace(/\{(\w+)\}/g, (_, name: string) => `(?<${name}>${pieceFor(name)})`);
  return new RegExp(`^${source}/?$`);
}

function pieceFor(name: string): string {
  if (name === 'path') return '.*?';
  return long.has(name) ? '.+?' : '[^/]+';
}

function decoded(groups: Record<string, string>): Record<string, string> | undefined {
  try {
    return Object.fromEntries(
      Object.entries(groups)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [name, decodeURIComponent(value)]),
    );
  } catch (error) {
    // A path that is not well written leads nowhere.
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
