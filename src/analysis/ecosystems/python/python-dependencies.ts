/** What a Python project needs at run time, by normalised name, with the file that says so. */
import { isParsed, join, type Parsed, parentOf, type Repository } from '../../repository.ts';

export type Dependencies = ReadonlyMap<string, string>;

const names = [
  'requirements.txt',
  'requirements-prod.txt',
  'requirements_prod.txt',
  'requirements.in',
  'requirements.pip',
];
const inFolder = ['base.txt', 'production.txt', 'prod.txt', 'common.txt', 'requirements.txt', 'main.txt'];

export function requirementsFile(repository: Repository, directory: string): string | undefined {
  const here = repository.directory(directory);
  const own = here && repository.firstOf(directory, names);
  if (own !== undefined) return own;
  const folder = here?.folders.has('requirements') ? join(directory, 'requirements') : undefined;
  const listed = folder && repository.firstOf(folder, inFolder);
  if (listed) return listed;
  // reqs.txt, requirements_base.txt and the like; those for working on it say nothing of what it runs with.
  const named = [...(here?.files ?? [])].filter(
    (name) =>
      name.startsWith('req') && /^req\w*[-_.]?\w*\.txt$/.test(name) && !/dev|test|lint|doc/.test(name),
  );
  return named.length > 0 ? join(directory, named.sort()[0] ?? '') : undefined;
}

export function pythonDependencies(repository: Repository, directory: string): Dependencies {
  const found = new Map<string, string>();
  const add = (requirement: unknown, file: string) => {
    const name = requirementName(requirement);
    if (name !== undefined && !found.has(name)) found.set(name, file);
    for (const extra of extrasOf(requirement)) if (!found.has(extra)) found.set(extra, file);
  };
  const requirements = requirementsFile(repository, directory);
  if (requirements) addRequirements(repository, requirements, add, 4);
  const pyproject = join(directory, 'pyproject.toml');
  const project = repository.has(pyproject) ? repository.toml(pyproject) : undefined;
  if (project) addPyproject(project, pyproject, add);
  const pipfile = join(directory, 'Pipfile');
  const packages = repository.has(pipfile) ? repository.toml(pipfile)?.packages : undefined;
  if (isParsed(packages)) for (const name of Object.keys(packages)) add(name, pipfile);
  for (const name of ['environment.yml', 'environment.yaml']) {
    const path = join(directory, name);
    if (repository.has(path)) addConda(repository.yaml(path)?.dependencies, path, add);
  }
  for (const name of ['setup.py', 'setup.cfg']) {
    const path = join(directory, name);
    if (repository.has(path)) addSetup(repository.text(path) ?? '', path, add);
  }
  return found;
}

type Add = (requirement: unknown, file: string) => void;

function addRequirements(repository: Repository, path: string, add: Add, depth: number): void {
  for (const raw of (repository.text(path) ?? '').split('\n', 3_000)) {
    const line = raw.trim().slice(0, 300);
    const other = /^(?:-r|--requirement)[\s=]+(\S+)$/.exec(line)?.[1];
    if (other !== undefined && depth > 0) {
      const folder = parentOf(path) ?? '';
      addRequirements(repository, join(folder, other.replace(/^\.\//, '')), add, depth - 1);
    } else if (line !== '' && !line.startsWith('#') && !line.startsWith('-')) add(line, path);
  }
}

function addPyproject(file: Parsed, path: string, add: Add): void {
  const { project, tool } = file;
  if (isParsed(project) && Array.isArray(project.dependencies)) {
    for (const each of project.dependencies) add(each, path);
  }
  const poetry = isParsed(tool) ? tool.poetry : undefined;
  if (isParsed(poetry) && isParsed(poetry.dependencies)) {
    for (const [name, wanted] of Object.entries(poetry.dependencies)) {
      const extras = isParsed(wanted) && Array.isArray(wanted.extras) ? `[${wanted.extras.join(',')}]` : '';
      add(`${name}${extras}`, path);
    }
  }
}

function addConda(all: unknown, path: string, add: Add): void {
  if (!Array.isArray(all)) return;
  for (const each of all) {
    if (isParsed(each) && Array.isArray(each.pip)) for (const name of each.pip) add(name, path);
    else if (typeof each === 'string') add(each.split('::').at(-1), path);
  }
}

/** `install_requires`, which is a list of strings in the one and lines in the other. */
function addSetup(text: string, path: string, add: Add): void {
  const start = text.indexOf('install_requires');
  if (start === -1) return;
  const end = path.endsWith('.py') ? text.indexOf(']', start) : text.indexOf('\n[', start);
  const part = text.slice(start, Math.min(end === -1 ? text.length : end, start + 8_000));
  const names = path.endsWith('.py')
    ? [...part.matchAll(/["']([^"'\n]{1,100})["']/g)].map((match) => match[1])
    : part.split('\n').slice(1);
  for (const name of names) add(name, path);
}

function requirementName(requirement: unknown): string | undefined {
  if (typeof requirement !== 'string') return undefined;
  const text = requirement.trim();
  const linked = /#egg=([\w.-]+)/.exec(text)?.[1];
  const name = linked ?? /^([A-Za-z0-9][\w.-]*)/.exec(text)?.[1];
  return name?.toLowerCase().replace(/[-_.]+/g, '-');
}

/** `fastapi[standard]` brings uvicorn, and that is what starts it. */
function extrasOf(requirement: unknown): readonly string[] {
  const text = typeof requirement === 'string' ? requirement.slice(0, 200) : '';
  const match = /^(fastapi|litestar|django-channels|channels|celery)\s*\[([^\]]*)\]/i.exec(text.trim());
  if (!match) return [];
  const extras = (match[2] ?? '').toLowerCase();
  if (/\b(?:standard|all)\b/.test(extras) && /fastapi|litestar/i.test(match[1] ?? '')) return ['uvicorn'];
  return extras.includes('daphne') ? ['daphne'] : [];
}
