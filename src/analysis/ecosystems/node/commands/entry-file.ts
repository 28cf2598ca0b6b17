/** The file that a program starts with where no script says it, and where a compiler puts what it makes of it. */
import type { Project } from '../../../project.ts';
import { objectAt } from '../../../readers/shape.ts';
import { join } from '../../../repository.ts';
import { configuredFolder } from '../frameworks/config-value.ts';
import type { NodePackage } from '../node-package.ts';

const names = ['server', 'index', 'app', 'main', 'start', 'bot', 'worker', 'api', 'www'];
const endings = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts', 'tsx'];
const fileNames = names.flatMap((name) => endings.map((ending) => `${name}.${ending}`));
const folders = ['', 'src', 'server', 'app', 'api', 'bin', 'lib'];

/** From the package's folder; one that is known to listen goes before one that is only well named. */
export function entryFile(package_: NodePackage): string | undefined {
  const main = configuredFolder(package_.manifest.main);
  const declared = main === undefined ? undefined : mainFile(package_, main);
  return declared ?? wellNamed(package_, folders) ?? onlyScript(package_);
}

/** Of a folder without a manifest: only what lies right in it. */
export function loneFile(project: Project): string | undefined {
  return wellNamed(project, ['']) ?? onlyScript(project);
}

function wellNamed(project: Project, places: readonly string[]): string | undefined {
  const candidates = places.flatMap((folder) => {
    const there = folder === '' ? project.files : project.repository.directory(project.at(folder))?.files;
    return there ? fileNames.filter((name) => there.has(name)).map((name) => join(folder, name)) : [];
  });
  return (
    candidates.find((file) => listens(project, file)) ??
    candidates.find((file) => !file.startsWith('app/') && !file.startsWith('lib/'))
  );
}

/** Whether a file, named from the folder, listens on a port. */
export function listens(project: Project, file: string): boolean {
  return (project.repository.source(project.at(file))?.listens.length ?? 0) > 0;
}

function mainFile(package_: NodePackage, main: string): string | undefined {
  const tried = ['', '/index'].flatMap((index) => endings.map((ending) => `${main}${index}.${ending}`));
  return [main, ...tried].find((file) => package_.has(file));
}

/** Files that a tool reads, as their names begin; `config` in a name says the same. */
const toolFiles =
  /^(?:\.|gulpfile|gruntfile|gatsby-|jest\.|karma\.|vitest\.|webpack\.|rollup\.|ecosystem\.|knexfile|jakefile)/i;

/** A folder with one source file starts with it, whatever its name. */
function onlyScript({ files }: Project): string | undefined {
  const sources = [...files].filter(
    (name) => /\.[cm]?[jt]s$/.test(name) && !/config|\.d\.ts$/.test(name) && !toolFiles.test(name),
  );
  return sources.length === 1 ? sources[0] : undefined;
}

export function builtFile(project: Project, file: string): string | undefined {
  const options = {
    ...objectAt(project.json('tsconfig.json'), 'compilerOptions'),
    ...objectAt(project.json('tsconfig.build.json'), 'compilerOptions'),
  };
  const out = configuredFolder(options.outDir);
  if (options.noEmit === true && out === undefined) return undefined;
  const root = configuredFolder(options.rootDir) ?? usualRoot(project, file);
  const inside = root !== '' && file.startsWith(`${root}/`) ? file.slice(root.length + 1) : file;
  return join(out ?? 'dist', inside.replace(/\.([cm]?)tsx?$/, '.$1js'));
}

/** Without `rootDir` it is the folder that holds all sources. */
function usualRoot({ files }: Project, file: string): string {
  const isBeside = [...files].some(
    (name) => /\.[cm]?tsx?$/.test(name) && !/\.d\.ts$|config\.[cm]?ts$/.test(name),
  );
  return isBeside || !file.includes('/') ? '' : (file.split('/')[0] ?? '');
}
