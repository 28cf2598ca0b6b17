/** Which file of a Python project is run when no server is: the ones people name so, then the only one there is. */

import { certain, conventional, type Evidenced, evidenced, guessed } from '../../evidence.ts';
import { isParsed, join, nameOf, type Parsed, type Repository } from '../../repository.ts';
import { findIn, within } from '../code.ts';

const entries =
  'main app run server wsgi asgi index application bot start api web streamlit_app Home hello worker __main__'.split(
    ' ',
  );
const folders = ['', 'src/', 'app/', 'server/', 'api/', 'backend/'];

export function entryFile(
  repository: Repository,
  directory: string,
  files: readonly string[],
): Evidenced<string> | undefined {
  for (const folder of folders) {
    for (const name of entries) {
      const path = join(directory, `${folder}${name}.py`);
      if (repository.has(path)) return evidenced(path, conventional, path, 'entry file by its name');
    }
  }
  const guarded = files.find((path) => findIn(repository, path, /^if\s+__name__\s*==\s*["']__main__["']/));
  if (guarded) return evidenced(guarded, conventional, guarded, '__main__');
  const own = files.filter(
    (path) => !/(?:^|\/)(?:setup|conftest|noxfile|tasks|fabfile|__init__)\.py$/.test(path),
  );
  const [only] = own.filter((path) => !within(directory, path).includes('/'));
  return only === undefined ? undefined : evidenced(only, guessed, only, 'a source file at the top');
}

/** `python -m package` or a script that the project installs. */
export function packageCommand(
  repository: Repository,
  directory: string,
  pyproject: Parsed | undefined,
  files: readonly string[],
): Evidenced<string> | undefined {
  const scripts = scriptsOf(pyproject);
  const path = join(directory, 'pyproject.toml');
  const names = Object.keys(scripts);
  const chosen = names.find((name) => /^(?:start|serve|server|web|app|main|run)$/.test(name)) ?? names[0];
  if (chosen !== undefined && /^[\w.-]+$/.test(chosen))
    return evidenced(chosen, certain, path, `script ${chosen}`);
  const main = files.find((file) => nameOf(file) === '__main__.py' && within(directory, file).includes('/'));
  if (main === undefined) return undefined;
  const parts = within(directory, main).split('/').slice(0, -1);
  if (parts[0] === 'src' && !repository.has(join(directory, 'src/__init__.py'))) parts.shift();
  return evidenced(`python -m ${parts.join('.')}`, certain, main, '__main__.py');
}

function scriptsOf(pyproject: Parsed | undefined): Parsed {
  const project = isParsed(pyproject?.project) ? pyproject.project : {};
  if (isParsed(project.scripts)) return project.scripts;
  const tool = isParsed(pyproject?.tool) ? pyproject.tool : {};
  return isParsed(tool.poetry) && isParsed(tool.poetry.scripts) ? tool.poetry.scripts : {};
}
