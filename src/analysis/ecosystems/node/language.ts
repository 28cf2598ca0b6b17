/** JavaScript or TypeScript, by what the sources are. */

import { certain, conventional, type Evidenced, evidenced } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { dependsOn, type PackageJson } from './package-manager/package-json.ts';

const enough = 400;
const endings = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs'];

export function nodeLanguage(project: Project, manifest: PackageJson): Evidenced<string> {
  const config = project.first('tsconfig.json', 'tsconfig.app.json', 'tsconfig.base.json');
  let [typed, plain, seen] = [0, 0, 0];
  let example: string | undefined;
  for (const file of project.repository.filesUnder(project.path, endings)) {
    if (/config\.[cm]?[jt]s$|\.d\.[cm]?ts$|\/\.[^/]+$/.test(file)) continue;
    seen += 1;
    if (/\.[cm]?tsx?$/.test(file)) {
      typed += 1;
      example ??= file;
    } else plain += 1;
    if (seen > enough) break;
  }
  if (typed > 0 && typed >= plain && example !== undefined)
    return evidenced('typescript', certain, example, `${typed} TypeScript files`);
  if (typed > 0 && config !== undefined && plain <= typed * 3)
    return evidenced('typescript', certain, config, 'tsconfig.json');
  if (plain === 0 && (config !== undefined || dependsOn(manifest, 'typescript')))
    return evidenced('typescript', conventional, config ?? manifest.file, 'set up for TypeScript');
  const { file } = manifest;
  return plain > 0
    ? evidenced('javascript', certain, file, `${plain} JavaScript files`)
    : evidenced('javascript', conventional, file, 'package.json');
}
