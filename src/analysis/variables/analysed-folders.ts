/**
 * Whether files of a folder count. Those of tests and examples do only where the analysis is about them: then their
 * sources were read, which is otherwise never done.
 */
import { parentOf, type Repository } from '../repository.ts';

const sources =
  '.js .mjs .ts .jsx .tsx .vue .py .rb .go .rs .java .kt .scala .php .cs .fs .ex .exs .clj .hs .cr .dart .swift .zig .gleam .c .cpp .lua .scm .html'.split(
    ' ',
  );

export function isAnalysed(repository: Repository, folder: string): boolean {
  const { kind } = repository.folders.of(folder);
  if (kind !== 'secondary') return kind === 'own';
  return repository.derived(foldersRead).has(folder);
}

function foldersRead(repository: Repository): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of repository.filesUnder('', sources)) {
    // These are read wherever they lie.
    if (/config\.[cm]?[jt]s$|(?:^|\/)index\.html$/.test(path)) continue;
    for (let at = parentOf(path); at !== undefined && !folders.has(at); at = parentOf(at)) folders.add(at);
  }
  return folders;
}
