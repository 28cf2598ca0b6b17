/**
 * What a Python project needs at run time: the one reader of requirements files, pyproject.toml, Pipfile, setup.py and
 * setup.cfg, and of Conda's environment, for detectors, services and Dockerfiles alike.
 */
import type { Project } from '../../project.ts';
import { asEntries, asList, asTexts, valueAt } from '../../readers/shape.ts';
import { isParsed, join, nameOf, parentOf, type Repository } from '../../repository.ts';

/** Names in their normal form, with the file that says so. */
export type Dependencies = ReadonlyMap<string, string>;

const names = [
  'requirements.txt',
  'requirements-prod.txt',
  'requirements_prod.txt',
  'requirements.in',
  'requirements.pip',
];
const inFolder = ['base', 'production', 'prod', 'common', 'requirements', 'main'];

export function requirementsFile(project: Project): string | undefined {
  const listed = project.first(...names, ...inFolder.map((name) => `requirements/${name}.txt`));
  if (listed !== undefined) return listed;
  // reqs.txt, requirements_base.txt and the like; those for working on it say nothing of what it runs with.
  const [named] = [...project.files]
    .filter(
      (name) =>
        name.startsWith('req') &&
        /^req\w{0,80}[-_.]?\w{0,80}\.txt$/.test(name) &&
        !/dev|test|lint|doc/.test(name),
    )
    .sort();
  return named === undefined ? undefined : project.at(named);
}

export function pythonDependencies(project: Project): Dependencies {
  const { repository } = project;
  const requirements = requirementsFile(project);
  const others = [
    'pyproject.toml',
    'Pipfile',
    'environment.yml',
    'environment.yaml',
    'setup.py',
    'setup.cfg',
  ];
  const files = [
    ...(requirements === undefined ? [] : includedBy(repository, requirements).requirements),
    ...others.map((name) => project.at(name)),
  ];
  const found = new Map<string, string>();
  for (const file of files) {
    for (const requirement of requirementsIn(repository, file)) {
      for (const name of [normalised(requirement), ...broughtBy(requirement)])
        if (!found.has(name)) found.set(name, file);
    }
  }
  return found;
}

/** Names with their extras, as in `celery[redis]`, that one file asks for. */
export function requirementsIn(repository: Repository, file: string): readonly string[] {
  return specifiersIn(repository, file).flatMap((each) => {
    const text = each.trim().slice(0, 300);
    return (
      /#egg=([\w.-]+)/.exec(text)?.[1] ?? /^[A-Za-z0-9][\w.-]*(?:\s*\[[^\]]{0,100}\])?/.exec(text)?.[0] ?? []
    );
  });
}

function specifiersIn(repository: Repository, file: string): readonly string[] {
  const name = nameOf(file);
  if (name === 'pyproject.toml') {
    const manifest = repository.toml(file);
    const poetry = valueAt(manifest, 'tool', 'poetry', 'dependencies');
    return [...asTexts(valueAt(manifest, 'project', 'dependencies')), ...withExtras(poetry)];
  }
  if (name === 'Pipfile') return withExtras(repository.toml(file)?.packages);
  if (/\.ya?ml$/.test(name)) return condaPackages(repository.yaml(file)?.dependencies);
  if (name === 'setup.py' || name === 'setup.cfg') return installRequires(repository.text(file) ?? '', name);
  return requirementLines(repository, file).filter((line) => !line.startsWith('-'));
}

/** `celery = {extras = ["redis"]}`. */
function withExtras(record: unknown): readonly string[] {
  return asEntries(record).map(([name, wanted]) => {
    const extras = asTexts(valueAt(wanted, 'extras'));
    return extras.length === 0 ? name : `${name}[${extras.join(',')}]`;
  });
}

function condaPackages(all: unknown): readonly string[] {
  return asList(all).flatMap((each) =>
    isParsed(each) ? asTexts(each.pip) : typeof each === 'string' ? [each.split('::').at(-1) ?? ''] : [],
  );
}

/** `install_requires`, which is a list of strings in the one and lines in the other. */
function installRequires(text: string, name: string): readonly string[] {
  const start = text.indexOf('install_requires');
  if (start === -1) return [];
  const isScript = name === 'setup.py';
  const end = text.indexOf(isScript ? ']' : '\n[', start);
  const part = text.slice(start, Math.min(end === -1 ? text.length : end, start + 8_000));
  return isScript
    ? [...part.matchAll(/["']([^"'\n]{1,100})["']/g)].map((match) => match[1] ?? '')
    : part.split('\n').slice(1);
}

function requirementLines(repository: Repository, file: string): readonly string[] {
  const lines = (repository.text(file) ?? '').split('\n', 5_000).map((line) => line.trim());
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

const mostFiles = 20;

export interface RequirementFiles {
  /** The file itself, and those whose requirements it takes in. */
  readonly requirements: readonly string[];
  readonly constraints: readonly string[];
  /** Something it names is not a file of requirements: the project itself, a folder, a file that is not there. */
  readonly namesOthers: boolean;
}

export function includedBy(repository: Repository, first: string): RequirementFiles {
  const [requirements, constraints] = [new Set([first]), new Set<string>()];
  let namesOthers = false;
  for (const file of requirements) {
    if (requirements.size > mostFiles) break;
    for (const line of requirementLines(repository, file)) {
      const [, option, other] = /^(-r|-c|--requirement|--constraint)[\s=]\s*([^\s#]+)/.exec(line) ?? [];
      const path = other && join(parentOf(file) ?? '', other.replace(/^\.\//, ''));
      if (path && repository.has(path)) (/^--?c/.test(option ?? '') ? constraints : requirements).add(path);
      else if (path || /^(-e|--editable|\.{1,2}\/|\.\s*$|file:)/.test(line) || /@ file:/.test(line))
        namesOthers = true;
    }
  }
  return { requirements: [...requirements], constraints: [...constraints], namesOthers };
}

function normalised(requirement: string): string {
  const name = /^[\w.-]+/.exec(requirement)?.[0] ?? '';
  return name.toLowerCase().replace(/[-_.]+/g, '-');
}

/** `fastapi[standard]` brings uvicorn, and that is what starts it. */
function broughtBy(requirement: string): readonly string[] {
  const [, name = '', extras = ''] =
    /^(fastapi|litestar|django-channels|channels|celery)\s*\[([^\]]*)\]/.exec(requirement.toLowerCase()) ??
    [];
  if (/fastapi|litestar/.test(name) && /\b(?:standard|all)\b/.test(extras)) return ['uvicorn'];
  return extras.includes('daphne') ? ['daphne'] : [];
}
