/** What manifests of Node packages say that decides how they are installed. */

import { objectAt, stringAt } from '../../../readers/shape.ts';
import { join, type Parsed, parentOf } from '../../../repository.ts';
import type { Request } from '../../request.ts';
import { isPlainPath, wrong } from '../../text/grammar.ts';

export interface NodeProject {
  /** Where the lock file lies and everything is installed, from the root of the repository. */
  readonly root: string;
  /** The app's folder from there; `''` where it is the same. */
  readonly inside: string;
  /** Of the app. */
  readonly manifest: Parsed;
  readonly rootManifest: Parsed;
  /** Folders of all members of the workspace, from `root`. */
  readonly members: readonly string[];
  /** Those the app needs, itself included; `['']` where there is no workspace. */
  readonly needed: readonly string[];
}

const kinds = new Set(['npm', 'pnpm', 'yarn', 'bun', 'deno']);

export function nodeProject(request: Request): NodeProject {
  const { files, monorepo, directory, app } = request;
  const manifestIn = (folder: string) => files.json(join(folder, 'package.json')) ?? {};
  const lock = app.packageManager?.lockFile ?? null;
  const isMember = monorepo !== null && kinds.has(monorepo.kind) && monorepo.members.includes(app.path);
  const above = lock === null ? '' : (parentOf(lock) ?? '');
  const isWithin = above === '' || directory === above || directory.startsWith(`${above}/`);
  const isRoot = monorepo !== null && kinds.has(monorepo.kind) && directory === above;
  if ((!isMember && !isRoot) || !isWithin) {
    const manifest = manifestIn(directory);
    return { root: directory, inside: '', manifest, rootManifest: manifest, members: [], needed: [''] };
  }
  if (!files.has(join(above, 'package.json'))) {
    throw wrong(
      'path',
      'This workspace has no package.json at its root, so npm, pnpm and Yarn cannot install it.',
      'Add a Dockerfile that runs the tool of the workspace, Rush for instance.',
    );
  }
  const from = (path: string) => (above === '' ? path : path.slice(above.length + 1));
  // Nx may keep apps without a manifest, whose results lie at the root; so everything stays together.
  if (!files.has(join(directory, 'package.json'))) {
    const manifest = manifestIn(above);
    return {
      root: above,
      inside: from(directory),
      manifest,
      rootManifest: manifest,
      members: [],
      needed: [],
    };
  }
  const members = monorepo.members
    .map((member) => (member === '.' ? '' : member))
    .filter(
      (member) => member !== above && (above === '' || member.startsWith(`${above}/`)) && isPlainPath(member),
    )
    .map(from);
  const inside = directory === above ? '' : from(directory);
  const manifests = new Map(members.map((member) => [member, manifestIn(join(above, member))]));
  return {
    root: above,
    inside,
    manifest: manifestIn(directory),
    rootManifest: manifestIn(above),
    members,
    needed: isRoot ? ['', ...members] : neededBy(inside, manifests),
  };
}

/** The member and all members that it depends on, at any distance; what others need comes first. */
function neededBy(member: string, manifests: ReadonlyMap<string, Parsed>): string[] {
  const byName = new Map([...manifests].map(([folder, manifest]) => [stringAt(manifest, 'name'), folder]));
  const distances = new Map([[member, 0]]);
  // Every member moves away from the app at most once for each member, so a circle ends too.
  for (let turn = 0; turn < manifests.size; turn++) {
    for (const [folder, distance] of [...distances]) {
      for (const name of dependencyNames(manifests.get(folder))) {
        const other = byName.get(name);
        if (other !== undefined && other !== member && (distances.get(other) ?? 0) <= distance)
          distances.set(other, distance + 1);
      }
    }
    if (Math.max(...distances.values()) < turn) break;
  }
  return [...distances].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([folder]) => folder);
}

function dependencyNames(manifest: Parsed | undefined): string[] {
  const kinds = ['dependencies', 'optionalDependencies', 'peerDependencies', 'devDependencies'];
  return kinds.flatMap((kind) => Object.keys(objectAt(manifest, kind)));
}

export function manifestDependsOn(manifest: Parsed, name: string): boolean {
  return isDependency(manifest, name) || Object.hasOwn(objectAt(manifest, 'devDependencies'), name);
}

export function isDependency(manifest: Parsed, name: string): boolean {
  return Object.hasOwn(objectAt(manifest, 'dependencies'), name);
}

export function scriptOf(manifest: Parsed, name: string): string | null {
  return stringAt(manifest, 'scripts', name) ?? null;
}

const installScripts = ['preinstall', 'install', 'postinstall', 'prepare'];
/** What these do needs no file but those that are copied before the installation anyway. */
const harmless =
  /^(husky( install)?|patch-package|prisma generate|lefthook install|simple-git-hooks|is-ci \|\| husky( install)?|husky( install)? \|\| true)$/;

/** Own scripts that run while installing may need any file, so then everything is copied before. */
export function needsSourcesToInstall(project: NodeProject, request: Request): boolean {
  const manifests = [
    project.rootManifest,
    ...project.members.map((each) => request.files.json(join(join(project.root, each), 'package.json'))),
  ];
  const scripts = manifests.flatMap((manifest) =>
    installScripts.map((name) => (manifest ? scriptOf(manifest, name) : null)),
  );
  const isLocal = (value: unknown) => typeof value === 'string' && /^(file|link|portal):/.test(value);
  const hasLocal = manifests.some((manifest) =>
    Object.values(objectAt(manifest, 'dependencies')).some(isLocal),
  );
  return hasLocal || scripts.some((script) => script !== null && !harmless.test(script.trim()));
}

/** Packages that are compiled while installing, or fetched by Git: the slim image has neither compiler nor Git. */
export function needsCompiler(project: NodeProject, request: Request): boolean {
  const lock = request.app.packageManager?.lockFile ?? null;
  const locked = lock === null ? undefined : request.files.text(lock);
  if (
    locked !== undefined &&
    /["'/\s](node-gyp|node-addon-api|nan|node-gyp-build|prebuild-install|@mapbox\/node-pre-gyp)["'@:]/.test(
      locked,
    )
  )
    return true;
  const all = [project.manifest, project.rootManifest].flatMap((manifest) => [
    ...Object.values(objectAt(manifest, 'dependencies')),
    ...Object.values(objectAt(manifest, 'devDependencies')),
  ]);
  return all.some(
    (value) =>
      typeof value === 'string' && /^(git[+:]|github:|gitlab:|bitbucket:|[\w.-]+\/[\w.-]+(#|$))/.test(value),
  );
}

/** Prisma before 7 writes its client into node_modules, and its engine wants OpenSSL. */
export function usesPrisma(project: NodeProject): boolean {
  return [project.manifest, project.rootManifest].some((manifest) => {
    if (!manifestDependsOn(manifest, '@prisma/client')) return false;
    const range =
      stringAt(manifest, 'dependencies', '@prisma/client') ??
      stringAt(manifest, 'devDependencies', '@prisma/client') ??
      '';
    return !(Number(/\d+/.exec(range)?.[0] ?? 0) >= 7);
  });
}
