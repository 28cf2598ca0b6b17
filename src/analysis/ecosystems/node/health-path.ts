/** A path that tells whether the app is well: registered in code, or a file by whose place a framework routes. */

import { certain, conventional, type Evidenced, evidenced } from '../../evidence.ts';
import { healthPath as isHealthPath } from '../../readers/javascript/routes.ts';
import type { NodeFramework } from './frameworks/framework.ts';
import type { NodePackage } from './node-package.ts';

const likely = '/healthz /health /api/health /api/healthz /healthcheck /up /ping /status'.split(' ');

/** Where files make routes: folder, and what is cut off the end. */
const places: readonly (readonly [string, RegExp])[] = [
  ['app', /\/route\.[jt]s$/],
  ['src/app', /\/route\.[jt]s$/],
  ['pages', /\.[jt]s$/],
  ['src/pages', /\.[jt]s$/],
  ['src/routes', /\/\+server\.[jt]s$/],
  ['app/routes', /\.[jt]sx?$/],
  ['server/api', /(?:\.get)?\.[jt]s$/],
  ['server/routes', /(?:\.get)?\.[jt]s$/],
];

export function healthPathOf(
  package_: NodePackage,
  framework: NodeFramework | undefined,
): Evidenced<string> | undefined {
  const { repository } = package_;
  const prefix = package_.at('');
  const found: Evidenced<string>[] = [];
  const appPrefix = globalPrefix(package_, prefix);
  for (const [file, { routes }] of repository.sources) {
    if (!file.startsWith(prefix)) continue;
    for (const { path, line, isController } of routes) {
      const whole = isController ? `${appPrefix}${path}` : path;
      found.push(evidenced(whole, certain, file, `route ${whole}`, line));
    }
  }
  for (const [folder, end] of places) found.push(...routedFiles(package_, folder, end));
  const rank = ({ value }: Evidenced<string>) => (likely.indexOf(value) + 1 || 99) + value.length / 1_000;
  const [best] = found.sort((one, other) => rank(one) - rank(other));
  if (best || framework?.health === undefined) return best;
  const { file } = package_.manifest;
  return evidenced(framework.health, conventional, file, `${framework.name} answers it`);
}

function routedFiles(package_: NodePackage, folder: string, end: RegExp): Evidenced<string>[] {
  const base = package_.at(folder);
  if (!package_.hasFolder(folder)) return [];
  const found: Evidenced<string>[] = [];
  for (const file of package_.repository.filesUnder(base, ['.ts', '.js', '.tsx', '.jsx'])) {
    const inside = file.slice(base.length);
    if (!end.test(inside)) continue;
    // Remix writes `/` as `.`, and marks what is no part of the path with `_` or brackets.
    const path = (
      folder === 'app/routes'
        ? inside.replaceAll('[.]', '\0').replace(end, '').replaceAll('.', '/')
        : inside.replace(end, '')
    )
      .replace(/\/\([^/]+\)/g, '')
      .replace(/^\/?/, folder === 'server/api' ? '/api/' : '/');
    if (isHealthPath.test(path)) found.push(evidenced(path, conventional, file, 'routed by its place'));
  }
  return found;
}

/** Nest's `app.setGlobalPrefix('api')`. */
function globalPrefix({ repository }: NodePackage, folder: string): string {
  for (const [file, { calls }] of repository.sources) {
    const call = file.startsWith(folder) ? calls.find(({ name }) => name === 'setGlobalPrefix') : undefined;
    const value = call?.arguments[0];
    if (typeof value === 'string' && value.length < 100) return `/${value.replace(/^\/|\/$/g, '')}`;
  }
  return '';
}
