/** Projects of Nx that have no package.json of their own: built and started through Nx from the root. */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced } from '../../evidence.ts';
import { isParsed, join, type Repository } from '../../repository.ts';
import { candidate, versionsOf } from '../draft.ts';
import { folderOf, valueAt } from './config-value.ts';
import { languageOf } from './language.ts';
import { installCommand, runProgram } from './manager-commands.ts';
import { nodeVersionOf } from './node-version.ts';
import { packageIn } from './package-json.ts';
import { managerOf } from './package-manager.ts';
import { workspaceRootOf } from './workspaces.ts';

/** By the executor of a target: framework, whether it makes files, and the port. */
const executors: readonly (readonly [RegExp, string | null, boolean, number | null])[] = [
  [/@nx\/next|@nrwl\/next/, 'next', false, 3000],
  [/@nx\/angular|@angular-devkit\/build-angular|@angular\/build|@nrwl\/angular/, 'angular', true, null],
  [/@nx\/vite|@nrwl\/vite/, 'vite', true, null],
  [/@nx\/remix/, 'remix', false, 3000],
  [/@nx\/nuxt/, 'nuxt', false, 3000],
  [/@nx\/nest|@nrwl\/nest/, 'nest', false, 3000],
  [/@nx\/(?:webpack|esbuild|node|js|rspack)|@nrwl\/(?:webpack|node|js|esbuild)/, null, false, 3000],
];

export const nxDetector: Detector = {
  name: 'nx',
  detect(directory, repository) {
    const file = join(directory.path, 'project.json');
    if (!directory.files.has('project.json') || directory.files.has('package.json')) return [];
    const project = repository.json(file);
    const root = workspaceRootOf(repository, directory.path);
    if (!project || root === undefined || project.projectType === 'library' || !isParsed(project.targets))
      return [];
    return project.projectType === 'application'
      ? [projectCandidate(repository, directory.path, root, file, project)]
      : [];
  },
};

function projectCandidate(
  repository: Repository,
  path: string,
  root: string,
  file: string,
  project: Readonly<Record<string, unknown>>,
): Candidate {
  const name = typeof project.name === 'string' ? project.name : (path.split('/').at(-1) ?? path);
  const executor = String(valueAt(project, 'targets.build.executor') ?? '');
  const [, framework = null, isStatic = false, port = null] =
    executors.find(([pattern]) => pattern.test(executor)) ?? [];
  const used = framework ?? serverOf(repository, root);
  const manager = managerOf(repository, root);
  const manifest = packageIn(repository, root);
  const written = folderOf(valueAt(project, 'targets.build.options.outputPath')) ?? join('dist', path);
  // Nx counts from its root, we from the folder of the app.
  const up = '../'.repeat(path.split('/').length - (root === '' ? 0 : root.split('/').length));
  const output = `${up}${written}`;
  const context = {
    repository,
    directory: repository.directory(path) ?? { path, files: new Set<string>(), folders: new Set<string>() },
    manager,
  };
  const start = isStatic ? undefined : startOf(used, name, output);
  return candidate('node', path, 0.85, {
    name: evidenced(name, certain, file, 'project.json'),
    language: manifest ? languageOf({ ...context, manifest }) : undefined,
    framework:
      used === null
        ? undefined
        : evidenced(used, framework === null ? conventional : certain, file, executor),
    packageManager: manager.told,
    versions: versionsOf({ node: nodeVersionOf(repository, root) }),
    installCommand: evidenced(
      installCommand(manager),
      certain,
      manager.told.source.file,
      manager.told.source.note,
    ),
    buildCommand: evidenced(runProgram(manager, `nx build ${name}`), certain, file, 'targets.build'),
    startCommand:
      start === undefined
        ? undefined
        : evidenced(
            start.startsWith('node ') ? start : runProgram(manager, start),
            conventional,
            file,
            executor,
          ),
    staticOutput: isStatic
      ? evidenced({ directory: output, isSinglePage: true }, conventional, file, 'outputPath')
      : undefined,
    port:
      port === null
        ? undefined
        : (evidenced(port, conventional, file, `custom of ${used ?? 'Node'}`) satisfies Evidenced<number>),
  });
}

function startOf(framework: string | null, name: string, output: string): string {
  return framework === 'next' || framework === 'remix' || framework === 'nuxt'
    ? `nx start ${name}`
    : `node ${output}/main.js`;
}

function serverOf(repository: Repository, root: string): string | null {
  const manifest = packageIn(repository, root);
  return (
    ['@nestjs/core', 'fastify', 'koa', 'express']
      .find((each) => manifest?.dependencies.has(each))
      ?.replace('@nestjs/core', 'nest') ?? null
  );
}
