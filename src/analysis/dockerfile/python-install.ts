/** How the dependencies of a Python app are installed, by tool. Each works from the lock file where there is one. */
import { type Cache, quoted } from './build-steps.ts';
import { isPlainPath, wrong } from './grammar.ts';
import { filesIn, inApp, type Request, table, text } from './request.ts';

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
  const names = filesIn(request);
  const texts = [...names]
    .filter((name) => /^(requirements.*\.txt|pyproject\.toml|Pipfile)$/.test(name))
    .map((name) => request.files.text(inApp(request, name)) ?? '');
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
    return {
      ...base,
      tool,
      command: request.installCommand,
      files: [],
      copiesSources: true,
      afterSources: null,
      caches: [pip],
      env: {},
    };
  }
  return { ...base, ...byTool(request, names) };
}

function byTool(request: Request, names: ReadonlySet<string>): Installing {
  const named = request.app.packageManager?.name ?? 'pip';
  const version = request.app.packageManager?.version ?? null;
  const tool = version !== null && /^\d+(\.\d+){1,2}$/.test(version) ? `${named}==${version}` : named;
  const has = (...wanted: string[]) => wanted.filter((name) => names.has(name));
  const none = {
    tool: null,
    command: null,
    files: [],
    copiesSources: false,
    afterSources: null,
    caches: [pip],
    env: {},
  };
  const manifest = request.files.toml(inApp(request, 'pyproject.toml'));
  const isPackage = Object.keys(table(manifest, 'build-system')).length > 0;
  const caches = [(Object.hasOwn(tools, named) ? tools[named] : undefined) ?? pip];
  if (named === 'conda') {
    throw wrong(
      'packageManager',
      'There is no base image here that installs an environment of Conda.',
      'Add a requirements.txt, or a Dockerfile.',
    );
  }
  if (named === 'uv' && request.monorepo?.kind === 'uv' && request.directory !== '') {
    return uvMember(request, tool, none, caches);
  }
  if (named === 'uv' && names.has('pyproject.toml')) {
    const sync = `uv sync${names.has('uv.lock') ? ' --frozen' : ''} --no-dev`;
    const env = uvSettings;
    const files = has('pyproject.toml', 'uv.lock');
    return {
      ...none,
      tool,
      command: `${sync} --no-install-project`,
      files,
      caches,
      env,
      afterSources: isPackage ? `${sync} --no-editable` : null,
    };
  }
  if (named === 'poetry' && names.has('pyproject.toml')) {
    const env = { POETRY_NO_INTERACTION: '1' };
    const files = has('pyproject.toml', 'poetry.lock', 'poetry.toml');
    const after = isInstallable(request, manifest) ? 'poetry install --only-root' : null;
    return {
      ...none,
      tool,
      command: 'poetry install --only main --no-root',
      files,
      caches,
      env,
      afterSources: after,
    };
  }
  if (named === 'pdm' && names.has('pyproject.toml')) {
    const env = { PDM_CHECK_UPDATE: 'false' };
    const files = has('pyproject.toml', 'pdm.lock');
    const command = names.has('pdm.lock') ? 'pdm sync --prod --no-self' : 'pdm install --prod --no-self';
    return {
      ...none,
      tool,
      command,
      files,
      caches,
      env,
      afterSources: isPackage ? 'pdm sync --prod --no-editable' : null,
    };
  }
  if (named === 'pipenv' && names.has('Pipfile')) {
    const list = names.has('Pipfile.lock') ? 'pipenv requirements' : 'pipenv lock && pipenv requirements';
    const command = `${list} > /tmp/requirements.txt && pip install -r /tmp/requirements.txt`;
    return { ...none, tool, command, files: has('Pipfile', 'Pipfile.lock') };
  }
  return withPip(request, names, none);
}

const uvSettings = {
  UV_PROJECT_ENVIRONMENT: '/opt/venv',
  UV_LINK_MODE: 'copy',
  UV_PYTHON_DOWNLOADS: 'never',
};

/** A member of a workspace is installed from the root, where the lock file is. */
function uvMember(request: Request, tool: string, none: Installing, caches: readonly Cache[]): Installing {
  const { files, directory, monorepo } = request;
  const name = text(files.toml(inApp(request, 'pyproject.toml')), 'project', 'name') ?? '';
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) {
    throw wrong('path', 'This member of the workspace has no name in its pyproject.toml.');
  }
  const members = (monorepo?.members ?? []).filter(isPlainPath).map((member) => `${member}/pyproject.toml`);
  const manifests = ['pyproject.toml', 'uv.lock', ...members].filter((path) => files.has(path));
  const sync = `uv sync${files.has('uv.lock') ? ' --frozen' : ''} --no-dev --package ${name}`;
  return {
    ...none,
    tool,
    root: '',
    inside: directory,
    command: `${sync} --no-install-workspace`,
    files: manifests,
    caches,
    env: uvSettings,
    afterSources: `${sync} --no-editable`,
  };
}

type Place = 'compiles' | 'libraries' | 'root' | 'inside';
type Installing = Omit<PythonInstallation, Place> & Partial<Pick<PythonInstallation, 'root' | 'inside'>>;

function withPip(request: Request, names: ReadonlySet<string>, none: Installing): Installing {
  const told = /(?:-r|--requirement)[ =](\S+)/.exec(request.installCommand ?? '')?.[1]?.replace(/^\.\//, '');
  const first =
    told !== undefined && isPlainPath(told) && request.files.has(inApp(request, told))
      ? told
      : 'requirements.txt';
  if (request.files.has(inApp(request, first))) {
    const { files, isWhole } = requirementFiles(request, first);
    return { ...none, command: `pip install -r ${quoted(first)}`, files, copiesSources: isWhole };
  }
  if (names.has('pyproject.toml') || names.has('setup.py')) {
    const isPackage =
      names.has('setup.py') ||
      Object.keys(table(request.files.toml(inApp(request, 'pyproject.toml')), 'build-system')).length > 0;
    if (isPackage || request.installCommand !== null)
      return { ...none, command: 'pip install .', copiesSources: true };
  }
  if (request.installCommand !== null)
    return { ...none, command: request.installCommand, copiesSources: true };
  return none;
}

/** Files that a requirements file takes in, and whether it names something that is not a file of requirements. */
function requirementFiles(request: Request, first: string): { files: string[]; isWhole: boolean } {
  const found = new Set([first]);
  let isWhole = false;
  for (const file of found) {
    if (found.size > 20) break;
    for (const line of (request.files.text(inApp(request, file)) ?? '').split('\n').slice(0, 5_000)) {
      const other = /^\s*(?:-r|-c|--requirement|--constraint)[ =]\s*([^\s#]+)/.exec(line)?.[1];
      if (other !== undefined) {
        const folder = file.includes('/') ? file.slice(0, file.lastIndexOf('/') + 1) : '';
        const path = `${folder}${other}`.replace(/^\.\//, '');
        if (isPlainPath(path) && request.files.has(inApp(request, path))) found.add(path);
        else isWhole = true;
      } else if (/^\s*(-e|--editable|\.{1,2}\/|\.\s*$|file:)/.test(line) || /@ file:/.test(line))
        isWhole = true;
    }
  }
  return { files: [...found], isWhole };
}

/** Poetry refuses to install a project whose package it cannot find. */
function isInstallable(request: Request, manifest: unknown): boolean {
  const name = (text(manifest, 'tool', 'poetry', 'name') ?? text(manifest, 'project', 'name') ?? '')
    .replaceAll('-', '_')
    .toLowerCase();
  if (name === '' || table(manifest, 'tool', 'poetry')['package-mode'] === false) return false;
  const { files } = request;
  return [inApp(request, name), inApp(request, `src/${name}`)].some((path) => files.directories.has(path));
}
