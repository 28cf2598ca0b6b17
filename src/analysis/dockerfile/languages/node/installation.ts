/** The first stage of a Node app: manifests alone are copied, so that a change of code installs nothing again. */

import { objectAt } from '../../../readers/shape.ts';
import { join } from '../../../repository.ts';
import type { Document, Stage } from '../../document.ts';
import { folderSource, type Request } from '../../request.ts';
import { isPlainPath } from '../../text/grammar.ts';
import {
  type NodeProject,
  needsCompiler,
  needsSourcesToInstall,
  nodeProject,
  scriptOf,
  usesPrisma,
} from './manifests.ts';
import { type NodePackageManager, packageManagerOf } from './package-managers.ts';

export interface Installation {
  readonly project: NodeProject;
  readonly manager: NodePackageManager;
  /** Nothing is installed: no stage for it, and no folder of modules. */
  readonly isEmpty: boolean;
  readonly copiesSources: boolean;
  /** Own scripts run after an installation; some of them need tools that only the build has. */
  readonly hasScripts: boolean;
}

export function installationOf(request: Request): Installation {
  const project = nodeProject(request);
  const count = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((kind) =>
    Object.keys(objectAt(project.manifest, kind)),
  );
  const hasScripts = ['preinstall', 'install', 'postinstall', 'prepare'].some(
    (name) => scriptOf(project.rootManifest, name) !== null,
  );
  // A manifest in JSON5 is left to pnpm: what it lists is not known here.
  const isJson5 = request.files.has(join(project.root, 'package.json5'));
  const isNothing = count.length === 0 && project.members.length === 0 && !hasScripts && !isJson5;
  const hasManifest = isJson5 || request.files.has(join(project.root, 'package.json'));
  return {
    project,
    manager: packageManagerOf(request, project),
    isEmpty:
      !hasManifest || request.installCommand === null || (isNothing && !request.isSet('installCommand')),
    copiesSources: needsSourcesToInstall(project, request),
    hasScripts,
  };
}

/** `isLean`: only what the app needs while it runs. */
export function addDependencies(
  document: Document,
  request: Request,
  installation: Installation,
  image: string,
  why: string,
  isLean: boolean,
): void {
  const { project, manager } = installation;
  const compiles = needsCompiler(project, request) && image.startsWith('node:');
  const base = compiles ? image.replace(/-slim$/, '') : image;
  const stage = document.stage(
    'dependencies',
    base,
    compiles ? `${why}; the full image has the compilers and Git that some dependencies need` : why,
  );
  addNodePackages(stage, request, installation);
  stage.workdir('/app');
  stage.env(manager.env);
  if (manager.setUp !== null && image.startsWith('node:')) {
    stage.plainRun(
      manager.setUp,
      'The package manager in the version that the repository asks for, from the package index',
      [{ id: 'npm', target: '/root/.npm' }],
    );
  }
  stage.arguments('install');
  if (installation.copiesSources) {
    stage.copy(
      [folderSource(project.root)],
      './',
      'Everything is copied first, because own scripts that run while installing may need any file',
    );
  } else copyManifests(stage, request, installation);
  const isOwn = request.isSet('installCommand') && request.installCommand !== null;
  const install = isOwn
    ? (request.installCommand ?? '')
    : isLean && !installation.hasScripts
      ? manager.installLean
      : manager.install;
  stage.run(install, 'Installed by the lock file, with downloads kept between builds', [manager.cache]);
  if (isLean && !isOwn && (installation.hasScripts || manager.installLean === manager.install))
    addPrune(stage, manager);
  else if (isLean) stage.add('RUN mkdir -p node_modules');
}

export function addPrune(stage: Stage, manager: NodePackageManager): void {
  if (manager.prune === null) return;
  stage.run(`${manager.prune} && mkdir -p node_modules`, 'Removes what only the build needs', [
    manager.cache,
  ]);
}

/** Debian packages that the app asks for, in the stage that installs and in the one that runs. */
export function addNodePackages(stage: Stage, request: Request, { project }: Installation): void {
  const needed = usesPrisma(project) ? ['openssl', 'ca-certificates'] : [];
  stage.systemPackages(
    [...request.systemPackages, ...needed],
    needed.length > 0
      ? "Prisma's engine needs OpenSSL, which the slim image does not have"
      : 'Debian packages that were asked for',
  );
}

function copyManifests(stage: Stage, request: Request, { project, manager }: Installation): void {
  const { files, app } = request;
  const lock = app.packageManager?.lockFile ?? null;
  const at = (name: string) => join(project.root, name);
  const names = ['package.json', 'package.json5', ...manager.reads].map(at).filter((path) => files.has(path));
  if (lock !== null && files.has(lock) && isPlainPath(lock)) names.splice(1, 0, lock);
  stage.copy(
    [...new Set(names)],
    './',
    'Manifests and lock file only: this and the next step stay cached while they do not change',
  );
  for (const folder of [...manager.reads, ...(usesPrisma(project) ? ['prisma'] : [])]) {
    if (files.directory(at(folder))) stage.copy([`${at(folder)}/`], `./${folder}/`);
  }
  for (const member of project.members) {
    const manifest = at(`${member}/package.json`);
    if (files.has(manifest)) stage.copy([manifest], `./${member}/`);
    if (usesPrisma(project) && files.directory(at(`${member}/prisma`)))
      stage.copy([at(`${member}/prisma/`)], `./${member}/prisma/`);
  }
}
