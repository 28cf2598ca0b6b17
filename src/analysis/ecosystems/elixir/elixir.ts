/** Elixir: mix projects. An umbrella is one app, run from its root; the apps in it are its parts. */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced, evidencedBy, guessed } from '../../evidence.ts';
import { Project } from '../../project.ts';
import { join, nameOf, parentOf } from '../../repository.ts';
import { healthInCode } from '../code-health.ts';
import { portInCode } from '../code-port.ts';
import { candidate, manager, versionsOf } from '../draft.ts';
import { noVolumes, sqliteVolumes } from '../sqlite-volumes.ts';
import { toolVersion } from '../tool-versions.ts';
import { versionLine } from '../version-lines.ts';
import { workspaceFinder } from '../workspace-members.ts';

export const elixir: Detector = {
  name: 'elixir',
  detect(project) {
    return project.files.has('mix.exs') ? [describe(project)] : [];
  },
};

export const mixUmbrella = workspaceFinder('mix', ['mix.exs'], 'apps_path', (repository, _file, root) =>
  umbrellaApps(new Project(repository, root)),
);

function umbrellaApps(project: Project): readonly string[] {
  const folder = project.capture('mix.exs', /\bapps_path:\s*"([\w./-]+)"/);
  if (folder === undefined) return [];
  const apps = project.repository.directory(project.at(folder))?.folders ?? [];
  return [...apps]
    .map((name) => project.at(`${folder}/${name}`))
    .filter((path) => project.repository.has(join(path, 'mix.exs')));
}

function describe(project: Project): Candidate {
  const { repository, path } = project;
  const file = project.at('mix.exs');
  const files = [file, ...umbrellaApps(project).map((app) => join(app, 'mix.exs'))];
  const has = (...names: readonly string[]) =>
    repository.find(files, new RegExp(String.raw`\{\s*:(?:${names.join('|')})\s*,`)) !== undefined;
  const name = project.capture('mix.exs', /\bapp:\s*:(\w+)/) ?? (nameOf(path) || 'app');
  const framework = has('phoenix') ? 'phoenix' : has('plug_cowboy', 'bandit', 'plug') ? 'plug' : undefined;
  const migrates = has('ecto_sql', 'ecto_sqlite3', 'phoenix_ecto');
  const release = releaseOf(project, name, migrates);
  const sources = [...repository.filesUnder(path, ['.ex', '.exs'])].filter(
    (each) => !/\/(?:test|deps)\//.test(`/${each}`),
  );
  const above = parentOf(parentOf(path) ?? '');
  const isPart = above !== undefined && umbrellaApps(new Project(repository, above)).includes(path);
  const isApplication = repository.find(files, /\bmod:\s*\{/) !== undefined;
  const asked = project.find('mix.exs', /\belixir:\s*"([^"]+)"/);
  const draft = {
    name: evidenced(name, certain, file, `:${name}`),
    language: evidenced('elixir', certain, file, 'mix'),
    framework: framework && evidenced(framework, certain, file, framework),
    packageManager: manager('mix', project.upwards('mix.lock'), file),
    versions: versionsOf({
      elixir: versionLine(
        'elixir',
        toolVersion(project, 'elixir') ?? (asked && evidencedBy(asked, asked.match[1] ?? '')),
      ),
      erlang: toolVersion(project, 'erlang'),
    }),
    installCommand: evidenced('mix deps.get --only prod', conventional, file, 'mix'),
    buildCommand: evidenced(buildOf(project, files, release), conventional, file, 'mix'),
    startCommand: startOf(release, framework, file),
    releaseCommand: migrates
      ? (release?.migrations ?? evidenced('mix ecto.migrate', conventional, file, 'Ecto'))
      : undefined,
    port: portOf(project, framework, sources),
    healthPath: healthInCode(repository, sources),
    ...(has('ecto_sqlite3') ? sqliteVolumes(project, [project.at('config/runtime.exs')]) : noVolumes),
  };
  const isApp = !isPart && (framework !== undefined || isApplication || release?.isListed === true);
  const score = isApp ? (framework ? 0.92 : 0.75) : 0.35;
  return candidate('elixir', path, score, draft, isPart ? 'library' : 'app');
}

interface Release {
  readonly name: string;
  /** The project sets it up itself. */
  readonly isListed: boolean;
  readonly hasServer: boolean;
  readonly migrations: Evidenced<string> | undefined;
}

/**
 * What runs: the app with its Erlang, and no Mix. `undefined` where Mix itself has to run: to migrate, where the project
 * has no program for that, and for an umbrella that does not say which of its apps belong together.
 */
function releaseOf(project: Project, app: string, migrates: boolean): Release | undefined {
  const listed = project.find('mix.exs', /\breleases:\s*(?:\[|releases\()/);
  const isUmbrella = project.find('mix.exs', /\bapps_path:/) !== undefined;
  const next = listed && project.repository.lines(listed.file)[listed.line];
  const name =
    /releases:\s*\[\s*(\w+):/.exec(listed?.text ?? '')?.[1] ?? /^\s*(\w+):\s*\[/.exec(next ?? '')?.[1] ?? app;
  const migrations = migrationsOf(project, name, app);
  if ((isUmbrella && !listed) || (migrates && !migrations) || !/^[a-z_][a-z0-9_]*$/.test(name))
    return undefined;
  const isListed = listed !== undefined || project.hasFolder('rel');
  return { name, isListed, hasServer: project.has('rel/overlays/bin/server'), migrations };
}

function buildOf({ repository }: Project, files: readonly string[], release: Release | undefined): string {
  const steps = ['mix compile'];
  if (repository.find(files, /"assets\.deploy"/)) steps.push('mix assets.deploy');
  else if (repository.find(files, /"phx\.digest"/)) steps.push('mix phx.digest');
  if (release) steps.push('mix release');
  return steps.join(' && ');
}

function startOf(
  release: Release | undefined,
  framework: string | undefined,
  file: string,
): Evidenced<string> {
  if (release?.hasServer) return evidenced('bin/server', certain, file, 'a release with its server');
  if (release)
    return evidenced(`bin/${release.name} start`, release.isListed ? certain : conventional, file, 'release');
  return framework === 'phoenix'
    ? evidenced('mix phx.server', conventional, file, 'Phoenix')
    : evidenced('mix run --no-halt', conventional, file, 'mix');
}

function migrationsOf(project: Project, release: string, app: string): Evidenced<string> | undefined {
  const script = project.first('rel/overlays/bin/migrate');
  if (script) return evidenced('bin/migrate', certain, script, 'migrate');
  const path = project.at(`lib/${app}/release.ex`);
  const module = project.repository.capture(path, /^defmodule\s+([\w.]+)/);
  return module === undefined
    ? undefined
    : evidenced(`bin/${release} eval ${module}.migrate`, conventional, path, module);
}

function portOf(
  project: Project,
  framework: string | undefined,
  sources: readonly string[],
): Evidenced<number | null> {
  const { repository } = project;
  const file = project.at('mix.exs');
  if (framework === undefined) return evidenced(null, guessed, file, 'no web server among the dependencies');
  const configs = ['runtime', 'prod', 'releases', 'config', 'dev'].map((name) =>
    project.at(`config/${name}.exs`),
  );
  return (
    portInCode(repository, configs) ??
    (framework === 'plug' ? portInCode(repository, sources) : undefined) ??
    evidenced(4000, conventional, file, framework)
  );
}
