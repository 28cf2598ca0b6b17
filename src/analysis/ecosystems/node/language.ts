/** JavaScript or TypeScript, by what the sources are. */

import { certain, conventional, type Evidenced, evidenced } from '../../evidence.ts';
import { join } from '../../repository.ts';
import type { PackageContext } from './package-context.ts';
import { dependsOn } from './package-json.ts';

const enough = 400;

export function languageOf({ repository, directory, manifest }: PackageContext): Evidenced<string> {
  const config = repository.firstOf(directory.path, [
    'tsconfig.json',
    'tsconfig.app.json',
    'tsconfig.base.json',
  ]);
  let [typed, plain, seen] = [0, 0, 0];
  let example: string | undefined;
  for (const file of repository.filesUnder(directory.path, [
    '.ts',
    '.tsx',
    '.mts',
    '.cts',
    '.js',
    '.jsx',
    '.mjs',
    '.cjs',
  ])) {
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
  return evidenced(
    'javascript',
    plain > 0 ? certain : conventional,
    join(directory.path, 'package.json'),
    plain > 0 ? `${plain} JavaScript files` : 'package.json',
  );
}
