/** Elixir: mix projects. An umbrella is one app, run from its root; the apps in it are its parts. */
import type { Candidate, Detector, WorkspaceFinder } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced, firstEvidenced, guessed } from '../../evidence.ts';
import { join, nameOf, parentOf, type Repository } from '../../repository.ts';
import { findIn, findInAny } from '../code.ts';
import { healthInCode } from '../code-health.ts';
import { portInCode } from '../code-port.ts';
import { candidate, manager, versionsOf } from '../draft.ts';
import { sqliteVolumes } from '../sqlite-volumes.ts';
import { toolVersion } from '../tool-versions.ts';
import { versionLine } from '../version-lines.ts';

export const elixir: Detector = {
  name: 'elixir',
  detect({ path, files }, repository) {
    if (!files.has('mix.exs')) return [];
    return [describe(repository, path)];
  },
};

export const mixUmbrella: WorkspaceFinder = {
  name: 'mix',
  find(repository) {
    return [...repository.filesUnder('', ['mix.exs'])].flatMap((file) => {
      const root = parentOf(file) ?? '';
      const members = umbrellaApps(repository, root);
      return members.length === 0
        ? []
        : [{ kind: 'mix', tool: null, root, members, source: { file, note: 'apps_path' } }];
    });
  },
};

function umbrellaApps(repository: Repository, root: string): readonly string[] {
  const folder = findIn(repository, join(root, 'mix.exs'), /\bapps_path:\s*"([\w./-]+)"/)?.match[1];
  if (folder === undefined) return [];
  const apps = repository.directory(join(root, folder))?.folders ?? [];
  return [...apps]
    .map((name) => join(root, `${folder}/${name}`))
    .filter((path) => repository.has(join(path, 'mix.exs')));
}

function describe(repository: Repository, directory: string): Candidate {
  const file = join(directory, 'mix.exs');
  const apps = umbrellaApps(repository, directory);
  const files = [file, ...apps.map((path) => join(path, 'mix.exs'))];
  const has = (name: string) =>
    findInAny(repository, files, new RegExp(String.raw`\{\s*:${name}\s*,`)) !== undefined;
  const name = findIn(repository, file, /\bapp:\s*:(\w+)/)?.match[1] ?? (nameOf(directory) || 'app');
  const framework = has('phoenix')
    ? 'phoenix'
    : has('plug_cowboy') || has('bandit') || has('plug')
      ? 'plug'
      : undefined;
  const release = releaseOf(repository, directory, file, name);
  const sources = [...repository.filesUnder(directory, ['.ex', '.exs'])].filter(
    (path) => !/\/(?:test|deps)\//.test(`/${path}`),
  );
  const isPart = umbrellaAbove(repository, directory);
  const isApplication = findInAny(repository, files, /\bmod:\s*\{/) !== undefined;
  const draft = {
    name: evidenced(name, certain, file, `:${name}`),
    language: evidenced('elixir', certain, file, 'mix'),
    framework: framework && evidenced(framework, certain, file, framework),
    packageManager: manager('mix', repository.upwards(directory, ['mix.lock']), file),
    versions: versionsOf({
      elixir: versionLine(
        'elixir',
        firstEvidenced(toolVersion(repository, directory, 'elixir'), asked(repository, file)),
      ),
      erlang: toolVersion(repository, directory, 'erlang'),
    }),
    installCommand: evidenced('mix deps.get --only prod', conventional, file, 'mix'),
    buildCommand: evidenced(buildOf(repository, files, release), conventional, file, 'mix'),
    startCommand: startOf(release, framework, file),
    releaseCommand: migrations(repository, directory, files, release, name, has),
    port: portOf(repository, directory, framework, sources, file),
    healthPath: healthInCode(repository, sources),
    volumes: has('ecto_sqlite3')
      ? sqliteVolumes(repository, directory, [join(directory, 'config/runtime.exs')])
      : [],
  };
  const isApp = !isPart && (framework !== undefined || isApplication || release !== undefined);
  return candidate(
    'elixir',
    directory,
    isApp ? (framework ? 0.92 : 0.75) : 0.35,
    draft,
    isPart ? 'library' : 'app',
  );
}

function umbrellaAbove(repository: Repository, directory: string): boolean {
  const root = parentOf(parentOf(directory) ?? '');
  return root !== undefined && umbrellaApps(repository, root).includes(directory);
}

interface Release {
  readonly folder: string;
  readonly name: string;
  readonly hasServer: boolean;
}

/** Only where somebody set a release up: otherwise mix itself starts the app. */
function releaseOf(
  repository: Repository,
  directory: string,
  file: string,
  app: string,
): Release | undefined {
  const listed = findIn(repository, file, /\breleases:\s*(?:\[|releases\()/);
  if (!listed && repository.directory(join(directory, 'rel')) === undefined) return undefined;
  const own = /releases:\s*\[\s*(\w+):/.exec(listed?.text ?? '')?.[1];
  const name = own ?? (listed && lineAfter(repository, file, listed.line)) ?? app;
  return {
    name,
    folder: `_build/prod/rel/${name}/bin`,
    hasServer: repository.has(join(directory, 'rel/overlays/bin/server')),
  };
}

function lineAfter(repository: Repository, file: string, line: number): string | undefined {
  const next = repository.text(file)?.split('\n', line + 1)[line] ?? '';
  return /^\s*(\w+):\s*\[/.exec(next)?.[1];
}

function buildOf(repository: Repository, files: readonly string[], release: Release | undefined): string {
  const steps = ['mix compile'];
  if (findInAny(repository, files, /"assets\.deploy"/)) steps.push('mix assets.deploy');
  else if (findInAny(repository, files, /"phx\.digest"/)) steps.push('mix phx.digest');
  if (release) steps.push('mix release');
  return steps.join(' && ');
}

function startOf(
  release: Release | undefined,
  framework: string | undefined,
  file: string,
): Evidenced<string> {
  if (release) {
    if (release.hasServer) return evidenced(`${release.folder}/server`, certain, file, 'release');
    const serves = framework === 'phoenix' ? 'PHX_SERVER=true ' : '';
    return evidenced(`${serves}${release.folder}/${release.name} start`, certain, file, 'release');
  }
  return framework === 'phoenix'
    ? evidenced('mix phx.server', conventional, file, 'Phoenix')
    : evidenced('mix run --no-halt', conventional, file, 'mix');
}

function migrations(
  repository: Repository,
  directory: string,
  files: readonly string[],
  release: Release | undefined,
  app: string,
  has: (name: string) => boolean,
): Evidenced<string> | undefined {
  if (!has('ecto_sql') && !has('ecto_sqlite3') && !has('phoenix_ecto')) return undefined;
  const [file = 'mix.exs'] = files;
  if (!release) return evidenced('mix ecto.migrate', conventional, file, 'Ecto');
  if (repository.has(join(directory, 'rel/overlays/bin/migrate'))) {
    return evidenced(
      `${release.folder}/migrate`,
      certain,
      join(directory, 'rel/overlays/bin/migrate'),
      'migrate',
    );
  }
  const path = join(directory, `lib/${app}/release.ex`);
  const module = findIn(repository, path, /^defmodule\s+([\w.]+)/)?.match[1];
  return module === undefined
    ? undefined
    : evidenced(`${release.folder}/${release.name} eval ${module}.migrate`, conventional, path, module);
}

function asked(repository: Repository, file: string): Evidenced<string> | undefined {
  const hit = findIn(repository, file, /\belixir:\s*"([^"]+)"/);
  return hit && evidenced(hit.match[1] ?? '', certain, file, hit.text.trim(), hit.line);
}

function portOf(
  repository: Repository,
  directory: string,
  framework: string | undefined,
  sources: readonly string[],
  file: string,
): Evidenced<number | null> {
  const configs = ['runtime', 'prod', 'releases', 'config', 'dev'].map((name) =>
    join(directory, `config/${name}.exs`),
  );
  if (framework === undefined) return evidenced(null, guessed, file, 'no web server among the dependencies');
  const found =
    portInCode(repository, configs) ?? (framework === 'plug' ? portInCode(repository, sources) : undefined);
  return found ?? evidenced(4000, conventional, file, framework);
}
