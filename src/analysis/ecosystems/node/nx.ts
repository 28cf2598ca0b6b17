/** Projects of Nx that have no package.json of their own: built and started through Nx from the root. */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, evidenced } from '../../evidence.ts';
import { Project } from '../../project.ts';
import { isParsed, join, nameOf, type Parsed } from '../../repository.ts';
import { candidate, versionsOf } from '../draft.ts';
import { configuredFolder, settingAt } from './frameworks/config-value.ts';
import { frameworks, servers } from './frameworks/frameworks.ts';
import { nodeLanguage } from './language.ts';
import { installCommand, runProgram } from './package-manager/manager-commands.ts';
import { nodeVersionOf } from './package-manager/node-version.ts';
import { packageIn } from './package-manager/package-json.ts';
import { managerOf } from './package-manager/package-manager.ts';
import { workspaceRootOf } from './package-manager/workspaces.ts';

/** Executors that build a server of plain Node. */
const plainNode = /^@(?:nx|nrwl)\/(?:webpack|esbuild|node|js|rspack)\b/;

export const nxDetector: Detector = {
  name: 'nx',
  detect(project) {
    const { repository, path, files } = project;
    if (!files.has('project.json') || files.has('package.json')) return [];
    const config = project.json('project.json');
    const root = workspaceRootOf(repository, path);
    const isApp = config?.projectType === 'application' && isParsed(config.targets);
    return isApp && root !== undefined ? [describe(project, config, root)] : [];
  },
};

function describe(project: Project, config: Parsed, root: string): Candidate {
  const { repository, path } = project;
  const file = project.at('project.json');
  const name = typeof config.name === 'string' ? config.name : nameOf(path);
  const executor = String(settingAt(config, 'targets.build.executor') ?? '');
  const named = frameworks.find(({ nx }) => nx?.executors.some((each) => executor.startsWith(each)));
  const manifest = packageIn(repository, root);
  const isStatic = named?.nx?.makes === 'files';
  const framework =
    named ?? servers.find(({ packages }) => packages.some((each) => manifest?.dependencies.has(each)));
  const port = isStatic ? undefined : (named?.port ?? (plainNode.test(executor) ? 3000 : undefined));
  const manager = managerOf(repository, root);
  const written =
    configuredFolder(settingAt(config, 'targets.build.options.outputPath')) ?? join('dist', path);
  // Nx counts from its root, we from the folder of the app.
  const up = '../'.repeat(path.split('/').length - (root === '' ? 0 : root.split('/').length));
  const directory = `${up}${written}`;
  const hasOwnStart = framework?.kind === 'either';
  const start = hasOwnStart ? runProgram(manager, `nx start ${name}`) : `node ${directory}/main.js`;
  return candidate('node', path, 0.85, {
    name: evidenced(name, certain, file, 'project.json'),
    language: manifest && nodeLanguage(project, manifest),
    framework: framework && evidenced(framework.name, named ? certain : conventional, file, executor),
    packageManager: manager.evidence,
    versions: versionsOf({ node: nodeVersionOf(new Project(repository, root)) }),
    installCommand: { ...manager.evidence, value: installCommand(manager), certainty: certain },
    buildCommand: evidenced(runProgram(manager, `nx build ${name}`), certain, file, 'targets.build'),
    startCommand: isStatic ? undefined : evidenced(start, conventional, file, executor),
    staticOutput: isStatic
      ? evidenced({ directory, isSinglePage: true }, conventional, file, 'outputPath')
      : undefined,
    port:
      port === undefined
        ? undefined
        : evidenced(port, conventional, file, `convention of ${framework?.name ?? 'Node'}`),
  });
}
