/** Where a compiler puts what it makes of a TypeScript file. */
import { isParsed, join, type Repository } from '../../repository.ts';
import { folderOf } from './config-value.ts';

export function builtFile(repository: Repository, directory: string, file: string): string | undefined {
  const options = compilerOptions(repository, directory);
  const out = folderOf(options.outDir);
  if (options.noEmit === true && out === undefined) return undefined;
  const root = folderOf(options.rootDir) ?? customRoot(repository, directory, file);
  const inside = root !== '' && file.startsWith(`${root}/`) ? file.slice(root.length + 1) : file;
  const name = inside.replace(/\.([cm]?)tsx?$/, '.$1js');
  return join(out ?? 'dist', name);
}

/** Without `rootDir` it is the folder that holds all sources. */
function customRoot(repository: Repository, directory: string, file: string): string {
  const first = file.split('/').length > 1 ? (file.split('/')[0] ?? '') : '';
  if (first === '') return '';
  const files = repository.directory(directory)?.files ?? new Set<string>();
  const isBeside = [...files].some(
    (name) => /\.[cm]?tsx?$/.test(name) && !/\.d\.ts$|config\.[cm]?ts$/.test(name),
  );
  return isBeside ? '' : first;
}

function compilerOptions(repository: Repository, directory: string): Readonly<Record<string, unknown>> {
  let options: Readonly<Record<string, unknown>> = {};
  for (const name of ['tsconfig.json', 'tsconfig.build.json']) {
    const found = repository.json(join(directory, name))?.compilerOptions;
    if (isParsed(found)) options = { ...options, ...found };
  }
  return options;
}
