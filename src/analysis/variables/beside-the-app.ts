/**
 * Which files are run by hand, by tests or by pipelines, and not by the app: what they read is no variable of it. A name
 * alone says little (`tasks.py` is Celery's own, `src/tools` a part of the app), so it counts only where such files lie
 * by custom, and never for what the app's code imports.
 */
import { hasManifest } from '../declarations/places.ts';
import { join, nameOf, parentOf, type Repository } from '../repository.ts';

/** Of these names at any depth: texts, stories, and what is started by hand. */
const byHand = new Set('script scripts doc docs .storybook storybook hack'.split(' '));

/** Only right beside a manifest or at the top: parts of an app are called so, too. */
const aroundTheApp = new Set('tool tools tooling infra terraform cdk ansible helm k8s ci'.split(' '));

/** Configuration of tools that build or check; `release.py` or `playwright.ts` alone may be the app itself. */
const configuration =
  /^(?:playwright|cypress|jest|vitest|wdio|karma|codegen|eslint|prettier|commitlint|release|semantic-release|lint-staged)\.(?:config|setup)\.[\w.]{1,8}$/;

const taskRunners = new Set(
  'gulpfile.js gulpfile.mjs gulpfile.ts Gruntfile.js dangerfile.js dangerfile.ts codegen.ts noxfile.py fabfile.py conftest.py'.split(
    ' ',
  ),
);

const sources = ['.py', '.js', '.mjs', '.cjs', '.ts', '.jsx', '.tsx', '.mts', '.vue', '.svelte', '.astro'];
/** Who imports a folder is near the top; a large repository is not gone through for it. */
const mostAsked = 400;

export function asideIn(repository: Repository): (path: string) => boolean {
  const known = new Map<string, boolean>();
  const isFolderAside = (folder: string): boolean => {
    const before = known.get(folder);
    if (before !== undefined) return before;
    const parent = parentOf(folder);
    if (parent === undefined || folder === repository.root) return false;
    const is = isFolderAside(parent) || (isNamedSo(repository, folder) && !isImported(repository, folder));
    known.set(folder, is);
    return is;
  };
  return (path) => isFileAside(repository, path) || isFolderAside(parentOf(path) ?? '');
}

function isFileAside(repository: Repository, path: string): boolean {
  const name = nameOf(path);
  if (configuration.test(name) || taskRunners.has(name)) return true;
  // Of Invoke, which runs tasks by hand; Celery finds its own by the same name.
  return name === 'tasks.py' && repository.find(path, /^\s*(?:from|import)\s+invoke\b/) !== undefined;
}

function isNamedSo(repository: Repository, folder: string): boolean {
  const name = nameOf(folder);
  if (byHand.has(name)) return true;
  const parent = parentOf(folder) ?? '';
  return aroundTheApp.has(name) && (parent === repository.root || hasManifest(repository, parent));
}

/** By code that lies beside it, as a module of Python or a path of JavaScript. */
function isImported(repository: Repository, folder: string): boolean {
  const parent = parentOf(folder) ?? '';
  const names = [nameOf(folder), repository.folders.within(folder)].filter((name) => /^[\w/-]+$/.test(name));
  if (names.length === 0) return false;
  const [slashes, dots] = [names.join('|'), names.join('|').replaceAll('/', String.raw`\.`)];
  const pattern = new RegExp(
    String.raw`^\s*(?:from|import)\s+\.{0,3}(?:${dots})\b|(?:from|import|require)\s{0,2}\(?\s{0,2}["'](?:(?:\.{1,2}/){1,5}|[@~]/)(?:${slashes})(?:/|["'])`,
  );
  const inside = join(folder, '');
  let asked = 0;
  for (const path of repository.filesUnder(parent, sources)) {
    if (path.startsWith(inside)) continue;
    asked += 1;
    if (asked > mostAsked) return false;
    if (repository.bytes(path)?.includes(nameOf(folder)) && repository.find(path, pattern)) return true;
  }
  return false;
}
