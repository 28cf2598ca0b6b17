/** Whether a package is something to run. */
import type { Candidate } from '../../detector.ts';
import { isParsed, join } from '../../repository.ts';
import { entryFile, listensIn } from './entry-file.ts';
import type { Framework } from './frameworks.ts';
import { frameworks } from './frameworks.ts';
import { type PackageContext, scriptCommands } from './package-context.ts';
import { dependsOn, packageIn } from './package-json.ts';
import type { Rendering } from './rendering.ts';
import { isDirecting } from './script-kinds.ts';
import type { Start } from './start-command.ts';
import { membersOf, workspaceRootOf } from './workspaces.ts';

type Judgement = Pick<Candidate, 'role' | 'score'>;

/** Beside these a package without pages of its own only makes what another language hands out. */
const otherManifests = [
  'composer.json',
  'Gemfile',
  'manage.py',
  'mix.exs',
  'go.mod',
  'requirements.txt',
  'pyproject.toml',
  'Pipfile',
  'Cargo.toml',
  'pom.xml',
  'build.gradle',
  'build.gradle.kts',
  'artisan',
  'deps.edn',
  'project.clj',
  'build.sbt',
  'shard.yml',
  'config.toml',
  'hugo.toml',
  '_config.yml',
];

export function roleOf(
  context: PackageContext,
  framework: Framework | undefined,
  rendering: Rendering | undefined,
  start: Start | undefined,
): Judgement {
  const { directory, manifest } = context;
  if (isOwnedMember(context)) return { role: 'library', score: 0.1 };
  if (isDirector(context, framework, start)) return { role: 'library', score: 0.1 };
  const isBeside =
    otherManifests.some((name) => directory.files.has(name)) ||
    [...directory.files].some((name) => /\.(?:cs|fs)proj$/.test(name));
  if (isBeside && isAssets(context, framework, start)) return { role: 'toolchain', score: 0.4 };
  if (framework && !isPart(context, framework, rendering, start)) {
    if (framework.kind !== 'static' && !frameworks.servers.includes(framework))
      return { role: 'app', score: 0.95 };
    if (rendering?.kind === 'static') return { role: 'app', score: isBeside ? 0.7 : 0.9 };
    return { role: 'app', score: start ? 0.9 : 0.6 };
  }
  const isScripted = start !== undefined && start.commands.length > 0;
  if (isLibrary(context, start) || (isNative(context) && !isScripted)) return { role: 'library', score: 0.3 };
  if (start)
    return {
      role: 'app',
      score: start.command.certainty >= 1 ? 0.8 : start.command.certainty >= 0.7 ? 0.6 : 0.4,
    };
  const builds = scriptCommands(context, 'build').length > 0;
  if (isBeside || (builds && !directory.files.has('index.html'))) return { role: 'toolchain', score: 0.3 };
  return { role: manifest.main === undefined ? 'toolchain' : 'library', score: 0.2 };
}

/** Redwood's `web` and `api` are parts of one app. */
function isOwnedMember({ repository, directory }: PackageContext): boolean {
  const root = workspaceRootOf(repository, directory.path);
  const manifest = root === undefined || root === directory.path ? undefined : packageIn(repository, root);
  if (!manifest) return false;
  return frameworks.whole.some(
    ({ ownsMembers, packages }) => ownsMembers === true && packages.some((name) => dependsOn(manifest, name)),
  );
}

/** A package that only starts others: of a workspace, or with `concurrently`. */
function isDirector(
  context: PackageContext,
  framework: Framework | undefined,
  start: Start | undefined,
): boolean {
  if (framework?.ownsMembers) return false;
  const { repository, directory, manifest } = context;
  const hasMembers = membersOf(repository, directory.path).length > 0;
  const commands = ['start', 'dev', 'develop'].flatMap((name) => scriptCommands(context, name));
  const directs = commands.some(isDirecting);
  // With a build of its own it is what gets deployed: the folders below are its parts.
  const goesElsewhere =
    (manifest.scripts.get('start') ?? '').startsWith('cd ') &&
    !manifest.scripts.has('build') &&
    !manifest.scripts.has('heroku-postbuild');
  const ownStart = start !== undefined && start.commands.length > 0 && !start.commands.every(isDirecting);
  const isReal = framework !== undefined && framework.name !== 'storybook' && hasOwnSources(context);
  if (hasMembers) return !(isReal || (ownStart && hasOwnSources(context)));
  return (directs || goesElsewhere) && !ownStart && !isReal;
}

/** Code of its own, not only that of members below. */
function hasOwnSources(context: PackageContext): boolean {
  const { directory, repository } = context;
  if (
    [...directory.files].some(
      (name) => /\.[cm]?[jt]sx?$/.test(name) && !/config|^\.|rc\.|setup|\.d\.ts$/i.test(name),
    )
  )
    return true;
  if (directory.files.has('index.html')) return true;
  const members = membersOf(repository, directory.path);
  return ['src', 'app', 'pages', 'server', 'lib', 'api', 'content', 'docs'].some((name) => {
    const path = join(directory.path, name);
    const isThere = directory.folders.has(name) && !repository.has(join(path, 'package.json'));
    return isThere && !members.some((member) => member === path || member.startsWith(`${path}/`));
  });
}

/** Stylesheets and scripts for pages that another language makes. */
function isAssets(
  context: PackageContext,
  framework: Framework | undefined,
  start: Start | undefined,
): boolean {
  const isBundler = framework === undefined || framework.isBundler === true;
  const listens =
    start !== undefined &&
    (start.commands.some(({ program }) => program === 'node') || start.command.value.startsWith('node '));
  return isBundler && !listens && !hasPage(context);
}

function hasPage({ directory, repository }: PackageContext): boolean {
  return (
    directory.files.has('index.html') ||
    ['public/index.html', 'src/index.html'].some((name) => repository.has(join(directory.path, name)))
  );
}

/** A bundler or a server that is there for something else: a component library, a plugin, a test. */
function isPart(
  context: PackageContext,
  framework: Framework,
  rendering: Rendering | undefined,
  start: Start | undefined,
): boolean {
  const { manifest } = context;
  if (isNative(context) && framework.kind !== 'server')
    return !['build', 'export'].some((name) =>
      scriptCommands(context, name).some(({ program }) => program === 'expo' || program === 'vite'),
    );
  if (framework.name === 'storybook') return isLibrary(context, start) || manifest.raw.main !== undefined;
  if (
    framework.name === 'webpack' ||
    framework.name === 'vite' ||
    framework.name === 'parcel' ||
    framework.name === 'rsbuild'
  )
    return rendering?.kind === 'static' && start === undefined && !hasPage(context) && isLibraryLike(context);
  if (frameworks.servers.includes(framework))
    return (
      start === undefined ||
      (isLibraryLike(context) && !manifest.scripts.has('start') && !startListens(context))
    );
  return false;
}

/** For a desktop, a phone or an editor. */
function isNative({ manifest }: PackageContext): boolean {
  return (
    ['electron', 'react-native', '@tauri-apps/cli', '@capacitor/core'].some((name) =>
      dependsOn(manifest, name),
    ) || manifest.engines.has('vscode')
  );
}

function startListens(context: PackageContext): boolean {
  const entry = entryFile(context);
  return entry !== undefined && listensIn(context, entry);
}

function isLibraryLike({ manifest }: PackageContext): boolean {
  const { raw } = manifest;
  return (
    raw.exports !== undefined ||
    raw.module !== undefined ||
    raw.types !== undefined ||
    raw.typings !== undefined ||
    raw.files !== undefined ||
    raw.publishConfig !== undefined ||
    isParsed(raw.peerDependencies) ||
    manifest.main !== undefined
  );
}

function isLibrary(context: PackageContext, start: Start | undefined): boolean {
  const { manifest, repository, directory } = context;
  if (start !== undefined && start.command.certainty >= 1) return false;
  if (startListens(context)) return false;
  if (manifest.engines.has('vscode')) return true;
  const root = workspaceRootOf(repository, directory.path);
  if (root !== undefined && root !== directory.path) return true;
  const { raw } = manifest;
  return (
    raw.exports !== undefined ||
    raw.types !== undefined ||
    raw.typings !== undefined ||
    raw.files !== undefined ||
    raw.publishConfig !== undefined ||
    raw.module !== undefined
  );
}
