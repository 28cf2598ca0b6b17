/** How the dependencies of a Python app are installed, by tool. Each works from the lock file where there is one. */

import { includedBy } from '../../ecosystems/python/python-dependencies.ts';
import { objectAt, stringAt } from '../../readers/shape.ts';
import type { Cache } from '../document.ts';
import type { Request } from '../request.ts';
import { isPlainPath, quoted, wrong } from '../text/grammar.ts';

export interface PythonInstallation {
  /** What `pip install` brings before, as the tool of the project. */
  readonly tool: string | null;
  readonly command: string | null;
  /** What is copied to `/app`, from the root of the repository: the app's folder, or that of its workspace. */
  readonly root: string;
  /** The app's folder from there. */
  readonly inside: string;
  /** From `root`; each keeps its place. */
  readonly files: readonly string[];
  readonly copiesSources: boolean;
  /** Once everything is copied: the project itself, where it is a package. */
  readonly afterSources: string | null;
  readonly caches: readonly Cache[];
  readonly env: Readonly<Record<string, string>>;
  readonly compiles: boolean;
  /** Debian packages that compiled dependencies load while they run. */
  readonly libraries: readonly string[];
}

const pip: Cache = { id: 'pip', target: '/root/.cache/pip' };
const tools: Readonly<Record<string, Cache>> = {
  uv: { id: 'uv', target: '/root/.cache/uv' },
  poetry: { id: 'poetry', target: '/root/.cache/pypoetry' },
  pdm: { id: 'pdm', target: '/root/.cache/pdm' },
};

/** Distributions without wheels, and the libraries of Debian that what they compile to loads. */
const compiled: readonly (readonly [name: RegExp, library: string])[] = [
  [/(^|["'\s])psycopg2(?!-binary)\b/m, 'libpq5'],
  [/(^|["'\s])psycopg\[c\]/m, 'libpq5'],
  [/(^|["'\s])mysqlclient\b/m, 'libmariadb3'],
  [/(^|["'\s])uwsgi\b/im, 'libxml2'],
];

export function pythonInstallation(request: Request): PythonInstallation {
  const names = request.project.files;
  const texts = [...names]
    .filter((name) => /^(requirements.*\.txt|pyproject\.toml|Pipfile)$/.test(name))
    .map((name) => request.project.text(name) ?? '');
  const libraries = compiled
    .filter(([name]) => texts.some((each) => name.test(each)))
    .map(([, library]) => library);
  const base = {
    root: request.directory,
    inside: '',
    libraries,
    compiles: libraries.length > 0 || texts.some((each) => /(^|\s|["'])git\+/m.test(each)),
  };
  if (request.isSet('installCommand')) {
    const tool = /^(uv|poetry|pdm|pipenv)\b/.exec(request.installCommand ?? '')?.[1] ?? null;
    return { ...base, ...none, tool, command: request.installCommand, copiesSources: true };
  }
  return { ...base, ...byTool(request, names) };
}

const none: Installing = {
  tool: null,
  command: null,
  files: [],
  copiesSources: false,
  afterSources: null,
  caches: [pip],
  env: {},
};

function byTool(request: Request, names: ReadonlySet<string>): Installing {
  const named = request.app.packageManager?.name ?? 'pip';
  const version = request.app.packageManager?.version ?? null;
  const has = (...wanted: string[]) => wanted.filter((name) => names.has(name));
  const manifest = request.project.toml('pyproject.toml');
  const isPackage = Object.keys(objectAt(manifest, 'build-system')).length > 0;
  const common: Installing = {
    ...none,
    tool: version !== null && /^\d+(\.\d+){1,2}$/.test(version) ? `${named}==${version}` : named,
    caches: [(Object.hasOwn(tools, named) ? tools[named] : undefined) ?? pip],
  };
  if (named === 'conda') {
    throw wrong(
      'packageManager',
      'There is no base image here that installs an environment of Conda.',
      'Add a requirements.txt, or a Dockerfile.',
    );
  }
  if (named === 'uv' && request.monorepo?.kind === 'uv' && request.directory !== '')
    return uvMember(request, common);
  if (named === 'pipenv' && names.has('Pipfile')) {
    const list = names.has('Pipfile.lock') ? 'pipenv requirements' : 'pipenv lock && pipenv requirements';
    const command = `${list} > /tmp/requirements.txt && pip install -r /tmp/requirements.txt`;
    return { ...common, command, files: has('Pipfile', 'Pipfile.lock') };
  }
  if (!names.has('pyproject.toml')) return withPip(request, names);
  if (named === 'uv') {
    const sync = `uv sync${names.has('uv.lock') ? ' --frozen' : ''} --no-dev`;
    return {
      ...common,
      command: `${sync} --no-install-project`,
      files: has('pyproject.toml', 'uv.lock'),
      env: uvSettings,
      afterSources: isPackage ? `${sync} --no-editable` : null,
    };
  }
  if (named === 'poetry')
    return {
      ...common,
      command: 'poetry install --only main --no-root',
      files: has('pyproject.toml', 'poetry.lock', 'poetry.toml'),
      env: { POETRY_NO_INTERACTION: '1' },
      afterSources: isInstallable(request, manifest) ? 'poetry install --only-root' : null,
    };
  if (named === 'pdm')
    return {
      ...common,
      command: `pdm ${names.has('pdm.lock') ? 'sync' : 'install'} --prod --no-self`,
      files: has('pyproject.toml', 'pdm.lock'),
      env: { PDM_CHECK_UPDATE: 'false' },
      afterSources: isPackage ? 'pdm sync --prod --no-editable' : null,
    };
  return withPip(request, names);
}

const uvSettings = {
  UV_PROJECT_ENVIRONMENT: '/opt/venv',
  UV_LINK_MODE: 'copy',
  UV_PYTHON_DOWNLOADS: 'never',
};

/** A member of a workspace is installed from the root, where the lock file is. */
function uvMember(request: Request, common: Installing): Installing {
  const { files, directory, monorepo } = request;
  const name = stringAt(request.project.toml('pyproject.toml'), 'project', 'name') ?? '';
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) {
    throw wrong('path', 'This member of the workspace has no name in its pyproject.toml.');
  }
  const members = (monorepo?.members ?? []).filter(isPlainPath).map((member) => `${member}/pyproject.toml`);
  const manifests = ['pyproject.toml', 'uv.lock', ...members].filter((path) => files.has(path));
  const sync = `uv sync${files.has('uv.lock') ? ' --frozen' : ''} --no-dev --package ${name}`;
  return {
    ...common,
    root: '',
    inside: directory,
    command: `${sync} --no-install-workspace`,
    files: manifests,
    env: uvSettings,
    afterSources: `${sync} --no-editable`,
  };
}

type Place = 'compiles' | 'libraries' | 'root' | 'inside';
type Installing = Omit<PythonInstallation, Place> & Partial<Pick<PythonInstallation, 'root' | 'inside'>>;

function withPip(request: Request, names: ReadonlySet<string>): Installing {
  const { project, installCommand } = request;
  const named = /(?:-r|--requirement)[ =](\S+)/.exec(installCommand ?? '')?.[1]?.replace(/^\.\//, '');
  const first = named !== undefined && isPlainPath(named) && project.has(named) ? named : 'requirements.txt';
  if (project.has(first)) {
    const { requirements, constraints, namesOthers } = includedBy(request.files, project.at(first));
    const files = [...requirements, ...constraints].map((path) => project.relative(path));
    return {
      ...none,
      command: `pip install -r ${quoted(first)}`,
      files: files.filter(isPlainPath),
      copiesSources: namesOthers || !files.every(isPlainPath),
    };
  }
  const isPackage =
    names.has('setup.py') || Object.keys(objectAt(project.toml('pyproject.toml'), 'build-system')).length > 0;
  if (isPackage || (names.has('pyproject.toml') && installCommand !== null))
    return { ...none, command: 'pip install .', copiesSources: true };
  return installCommand === null ? none : { ...none, command: installCommand, copiesSources: true };
}

/** Poetry refuses to install a project whose package it cannot find. */
function isInstallable({ project }: Request, manifest: unknown): boolean {
  const poetry = objectAt(manifest, 'tool', 'poetry');
  const name = (stringAt(poetry, 'name') ?? stringAt(manifest, 'project', 'name') ?? '')
    .replaceAll('-', '_')
    .toLowerCase();
  if (name === '' || poetry['package-mode'] === false) return false;
  return project.hasFolder(name) || project.hasFolder(`src/${name}`);
}
