/** Whether a package is something to run. */
import type { Candidate } from '../../detector.ts';
import { isParsed } from '../../repository.ts';
import { entryFile, listens } from './commands/entry-file.ts';
import { isDirecting } from './commands/script-kinds.ts';
import type { Start } from './commands/start-command.ts';
import type { NodeFramework, Rendering } from './frameworks/framework.ts';
import { metaFrameworks } from './frameworks/frameworks.ts';
import { runsFramework } from './frameworks/rendering.ts';
import type { NodePackage } from './node-package.ts';
import { dependsOn, packageIn } from './package-manager/package-json.ts';
import { membersOf, workspaceRootOf } from './package-manager/workspaces.ts';

type Judgement = Pick<Candidate, 'role' | 'score'>;

/** Beside these a package without pages of its own only makes what another language hands out. */
const otherManifests =
  `composer.json Gemfile manage.py mix.exs go.mod requirements.txt pyproject.toml Pipfile Cargo.toml pom.xml build.gradle
  build.gradle.kts artisan deps.edn project.clj build.sbt shard.yml config.toml hugo.toml _config.yml`.split(
    /\s+/,
  );

export function roleOf(
  package_: NodePackage,
  framework: NodeFramework | undefined,
  rendering: Rendering | undefined,
  start: Start | undefined,
): Judgement {
  const { files, manifest } = package_;
  if (isOwnedMember(package_)) return { role: 'library', score: 0.1 };
  if (isDirector(package_, framework, start)) return { role: 'library', score: 0.1 };
  const isBeside =
    otherManifests.some((name) => files.has(name)) ||
    ['csproj', 'fsproj'].some((ending) => package_.endings.has(ending));
  if (isBeside && isAssets(package_, framework, start)) return { role: 'toolchain', score: 0.4 };
  if (framework && !isPart(package_, framework, rendering, start)) {
    if (framework.kind !== 'static' && !framework.isLibrary) return { role: 'app', score: 0.95 };
    if (rendering?.kind === 'static') return { role: 'app', score: isBeside ? 0.7 : 0.9 };
    return { role: 'app', score: start ? 0.9 : 0.6 };
  }
  const isScripted = start !== undefined && start.commands.length > 0;
  if (isLibrary(package_, start) || (isNative(package_) && !isScripted))
    return { role: 'library', score: 0.3 };
  if (start)
    return {
      role: 'app',
      score: start.command.certainty >= 1 ? 0.8 : start.command.certainty >= 0.7 ? 0.6 : 0.4,
    };
  const builds = package_.commands('build').length > 0;
  if (isBeside || (builds && !files.has('index.html'))) return { role: 'toolchain', score: 0.3 };
  return { role: manifest.main === undefined ? 'toolchain' : 'library', score: 0.2 };
}

/** Redwood's `web` and `api` are parts of one app. */
function isOwnedMember({ repository, path }: NodePackage): boolean {
  const root = workspaceRootOf(repository, path);
  const manifest = root === undefined || root === path ? undefined : packageIn(repository, root);
  if (!manifest) return false;
  return metaFrameworks.some(
    ({ ownsMembers, packages }) => ownsMembers === true && packages.some((name) => dependsOn(manifest, name)),
  );
}

/** A package that only starts others: of a workspace, or with `concurrently`. */
function isDirector(
  package_: NodePackage,
  framework: NodeFramework | undefined,
  start: Start | undefined,
): boolean {
  if (framework?.ownsMembers) return false;
  const { repository, path, manifest } = package_;
  const hasMembers = membersOf(repository, path).length > 0;
  const commands = ['start', 'dev', 'develop'].flatMap((name) => package_.commands(name));
  const directs = commands.some(isDirecting);
  // With a build of its own it is what gets deployed: the folders below are its parts.
  const goesElsewhere =
    (manifest.scripts.get('start') ?? '').startsWith('cd ') &&
    !manifest.scripts.has('build') &&
    !manifest.scripts.has('heroku-postbuild');
  const ownStart = start !== undefined && start.commands.length > 0 && !start.commands.every(isDirecting);
  const isReal = framework !== undefined && !framework.isShowcase && hasOwnSources(package_, framework);
  if (hasMembers) return !(isReal || (ownStart && hasOwnSources(package_, framework)));
  return (directs || goesElsewhere) && !ownStart && !isReal;
}

const sourceEndings = '.ts .tsx .js .jsx .mjs .cjs .mts .vue .svelte .astro'.split(' ');

/** Code of its own, not only that of members below. */
function hasOwnSources(package_: NodePackage, framework: NodeFramework | undefined): boolean {
  const { files, folders, repository, path } = package_;
  const isSource = (name: string) =>
    /\.[cm]?[jt]sx?$/.test(name) && !/config|^\.|rc\.|setup|\.d\.ts$/i.test(name);
  if (files.has('index.html') || [...files].some(isSource)) return true;
  const members = membersOf(repository, path);
  const isOwn = (name: string) => {
    const folder = package_.at(name);
    const isThere = folders.has(name) && !package_.has(`${name}/package.json`);
    return isThere && !members.some((member) => member === folder || member.startsWith(`${folder}/`));
  };
  // Texts are the source of a site; beside anything else they are its documentation.
  const isSite = framework?.kind === 'static' && !framework.isBundler;
  if (isSite && ['content', 'docs'].some(isOwn)) return true;
  return ['src', 'app', 'pages', 'server', 'lib', 'api'].some(
    (name) => isOwn(name) && !repository.filesUnder(package_.at(name), sourceEndings).next().done,
  );
}

/** Stylesheets and scripts for pages that another language makes. */
function isAssets(
  package_: NodePackage,
  framework: NodeFramework | undefined,
  start: Start | undefined,
): boolean {
  const isBundler = framework === undefined || framework.isBundler === true;
  const listens =
    start !== undefined &&
    (start.commands.some(({ program }) => program === 'node') || start.command.value.startsWith('node '));
  return isBundler && !listens && !hasPage(package_);
}

function hasPage(package_: NodePackage): boolean {
  return package_.first('index.html', 'public/index.html', 'src/index.html') !== undefined;
}

/** A bundler or a server that is there for something else: a component library, a plugin, a test. */
function isPart(
  package_: NodePackage,
  framework: NodeFramework,
  rendering: Rendering | undefined,
  start: Start | undefined,
): boolean {
  const { manifest } = package_;
  if (isNative(package_) && framework.kind !== 'server') return !buildsForBrowsers(package_, framework);
  if (framework.isShowcase) return isLibrary(package_, start) || manifest.raw.main !== undefined;
  if (framework.isBundler)
    return (
      rendering?.kind === 'static' && start === undefined && !hasPage(package_) && isLibraryLike(package_)
    );
  if (framework.isLibrary)
    return (
      start === undefined ||
      (isLibraryLike(package_) && !manifest.scripts.has('start') && !startListens(package_))
    );
  return false;
}

/**
 * For a desktop, a phone or an editor, with nothing for a browser. Not Capacitor, Cordova and Tauri: what they wrap is a
 * web app that runs without them.
 */
function isNative(package_: NodePackage): boolean {
  return package_.dependsOn('electron', 'react-native') || package_.manifest.engines.has('vscode');
}

/** It has a script that makes pages and no program of it, as Expo's for the web. */
function buildsForBrowsers(package_: NodePackage, framework: NodeFramework): boolean {
  return ['build', 'export', 'build:web', 'export:web'].some((name) => {
    const commands = package_.commands(name);
    const packs = commands.some(({ program }) => program.startsWith('electron'));
    return !packs && commands.some((each) => runsFramework(framework, each));
  });
}

function startListens(package_: NodePackage): boolean {
  const entry = entryFile(package_);
  return entry !== undefined && listens(package_, entry);
}

/** Fields with which a package says how others use it; of a private one nobody does. */
function isPublished({ manifest: { raw } }: NodePackage): boolean {
  const fields = ['exports', 'module', 'types', 'typings', 'files', 'publishConfig'];
  return raw.private !== true && fields.some((key) => raw[key] !== undefined);
}

function isLibraryLike(package_: NodePackage): boolean {
  const { manifest } = package_;
  return isPublished(package_) || isParsed(manifest.raw.peerDependencies) || manifest.main !== undefined;
}

function isLibrary(package_: NodePackage, start: Start | undefined): boolean {
  const { manifest, repository, path } = package_;
  if (start !== undefined && start.command.certainty >= 1) return false;
  if (startListens(package_)) return false;
  if (manifest.engines.has('vscode')) return true;
  const root = workspaceRootOf(repository, path);
  return (root !== undefined && root !== path) || isPublished(package_);
}
