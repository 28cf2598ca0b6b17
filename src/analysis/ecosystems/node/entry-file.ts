/** The file that a package starts with where no script says it. */
import { join } from '../../repository.ts';
import { folderOf } from './config-value.ts';
import type { PackageContext } from './package-context.ts';

const names = ['server', 'index', 'app', 'main', 'start', 'bot', 'worker', 'api', 'www'];
const endings = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts', 'tsx'];
const folders = ['', 'src', 'server', 'app', 'api', 'bin', 'lib'];

/** From the package's folder; one that is known to listen goes before one that is only well named. */
export function entryFile(context: PackageContext): string | undefined {
  const { manifest, directory, repository } = context;
  const declared = mainFile(context);
  if (declared !== undefined) return declared;
  const candidates = folders.flatMap((folder) => {
    const files = repository.directory(join(directory.path, folder).replace(/\/$/, ''))?.files;
    return names
      .flatMap((name) => endings.map((ending) => `${name}.${ending}`))
      .flatMap((name) => (files?.has(name) ? [join(folder, name)] : []));
  });
  const listening = candidates.find((file) => listensIn(context, file));
  if (listening !== undefined) return listening;
  const main = manifest.main === undefined ? undefined : folderOf(manifest.main);
  const lone = onlyFile(context);
  return (
    candidates.find((file) => file === main) ??
    candidates.find((file) => !file.startsWith('app/') && !file.startsWith('lib/')) ??
    lone
  );
}

function mainFile({ manifest, directory, repository }: PackageContext): string | undefined {
  const main = folderOf(manifest.main);
  if (main === undefined) return undefined;
  const tried = [
    main,
    ...endings.map((ending) => `${main}.${ending}`),
    ...endings.map((ending) => `${main}/index.${ending}`),
  ];
  return tried.find((file) => repository.has(join(directory.path, file)));
}

/** A package with one source file starts with it, whatever its name. */
function onlyFile({ directory }: PackageContext): string | undefined {
  const sources = [...directory.files].filter(
    (name) => /\.[cm]?[jt]s$/.test(name) && !/config|\.d\.ts$|^\./.test(name),
  );
  return sources.length === 1 ? sources[0] : undefined;
}

export function listensIn({ directory, repository }: PackageContext, file: string): boolean {
  return (repository.source(join(directory.path, file))?.listens.length ?? 0) > 0;
}
