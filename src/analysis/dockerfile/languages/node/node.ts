/** Apps that npm, pnpm, Yarn or Bun install, whatever they are made of. */
import { frameworkNamed } from '../../../ecosystems/node/frameworks/frameworks.ts';
import { join } from '../../../repository.ts';
import type { Document, Stage } from '../../document.ts';
import { folderSource, type Request, requiredStart, writtenFolders } from '../../request.ts';
import { imageVersionOf } from '../../steps/base-images.ts';
import { addStaticOutput } from '../../steps/web-server.ts';
import { startForm } from '../../text/command-line.ts';
import { quoted, run } from '../../text/grammar.ts';
import {
  addDependencies,
  addNodePackages,
  addPrune,
  type Installation,
  installationOf,
} from './installation.ts';
import { scriptOf, usesPrisma } from './manifests.ts';
import { type NodeOutput, nodeOutput } from './outputs.ts';
import { copyApp, copyModules, copyOutput, type Modules, user } from './runtime-files.ts';
import { type NodeStart, nodeStart, startsWithoutDevDependencies } from './start.ts';

interface Plan {
  readonly installation: Installation;
  readonly image: string;
  readonly why: string;
  readonly start: NodeStart;
  readonly output: NodeOutput | null;
  readonly isPruned: boolean;
  readonly modules: Modules;
}

export function nodeDockerfile(document: Document, request: Request): number {
  const installation = installationOf(request);
  const { image, why } = imageOf(request, installation);
  const hasBuild = request.buildCommand !== null;
  if (request.staticOutput) {
    const plan: Plan = {
      installation,
      image,
      why,
      start: none,
      output: null,
      isPruned: false,
      modules: null,
    };
    if (!installation.isEmpty) addDependencies(document, request, installation, image, why, false);
    addBuild(document, request, plan);
    const home = join('/app', installation.project.inside).replace(/\/$/, '');
    return addStaticOutput(document, request, request.staticOutput, home);
  }
  const plan = planOf(request, installation, image, why);
  if (!installation.isEmpty) {
    addDependencies(document, request, installation, image, why, plan.isPruned && !hasBuild);
  }
  if (hasBuild) addBuild(document, request, plan);
  if (plan.modules === 'production') {
    const again = 'The dependencies once more, without those for development';
    addPrune(document.stage('production', 'dependencies', again), installation.manager);
  }
  const stage = document.runtime(image, installation.isEmpty ? why : 'What runs starts from a clean image');
  return addRuntime(stage, request, plan);
}

const none: NodeStart = { command: '', why: null };

function planOf(request: Request, installation: Installation, image: string, why: string): Plan {
  const { project, manager } = installation;
  const given = requiredStart(request, '"node server.js", or a "start" script in package.json');
  const isOwn = request.isSet('startCommand');
  const start = isOwn ? { command: given, why: null } : nodeStart(given, project);
  const hasBuild = request.buildCommand !== null;
  // What else is run in the image may need more than the output of the framework.
  const isAlone = hasBuild && !isOwn && request.otherCommands.length === 0;
  const output = isAlone ? nodeOutput(request, project, start.command) : null;
  const commands = [start.command, ...request.otherCommands];
  const isPruned =
    manager.prune !== null &&
    !request.isSet('installCommand') &&
    commands.every((command) => startsWithoutDevDependencies(command, project));
  return { installation, image, why, start, output, isPruned, modules: modulesFrom() };

  function modulesFrom(): Modules {
    if (installation.isEmpty || (output && !output.needsModules)) return null;
    if (!hasBuild) return 'dependencies';
    // Prisma's build writes into node_modules; a copy that was pruned before would lack it.
    return isPruned && !usesPrisma(project) ? 'production' : 'build';
  }
}

/** Bun's own image only where Bun runs the app; builds of frameworks count on Node. */
function imageOf(request: Request, { project, manager }: Installation): { image: string; why: string } {
  const start = request.startCommand === null ? '' : nodeStart(request.startCommand, project).command;
  if (manager.name === 'bun' && request.staticOutput === null && /^bun /.test(start)) {
    const { version, why } = imageVersionOf(request, 'bun');
    return { image: `oven/bun:${version}-slim`, why };
  }
  const { version, why } = imageVersionOf(request, 'node');
  return { image: `node:${version}-slim`, why };
}

function addBuild(document: Document, request: Request, plan: Plan): void {
  const { installation, image, why, modules, isPruned } = plan;
  const { project, manager, isEmpty } = installation;
  const withAll = 'Built with all dependencies, also those for development';
  const stage = document.stage('build', isEmpty ? image : 'dependencies', isEmpty ? why : withAll);
  if (isEmpty) stage.workdir('/app');
  if (isEmpty || !installation.copiesSources) stage.copy([folderSource(project.root)], './');
  stage.arguments('build');
  if (!request.variables.some(({ key }) => key === 'NODE_ENV')) stage.env({ NODE_ENV: 'production' });
  const others = membersToBuild(request, installation);
  if (others !== null) {
    stage.run(others, 'Members of the workspace that the app uses are built before it');
  }
  if (project.inside !== '') stage.workdir(`/app/${project.inside}`);
  if (request.buildCommand !== null) {
    const framework = frameworkNamed(request.app.framework);
    const folder = framework?.buildCache;
    const target = join(join('/app', project.inside), folder ?? '').replace('//', '/');
    const isCached = framework !== undefined && folder !== undefined && !target.includes(' ');
    stage.run(
      request.buildCommand,
      'The build, with its variables as arguments and secrets as files that no layer keeps',
      isCached ? [{ id: framework.name, target }] : [],
    );
  }
  if (project.inside !== '') stage.workdir('/app');
  if (modules === 'build' && isPruned) addPrune(stage, manager);
  if (modules === 'production') {
    const remove = 'RUN find . -name node_modules -prune -exec rm -rf {} +';
    stage.add(remove, 'The modules of the build stay behind');
  }
}

/** A command that speaks of the workspace does this itself. */
function membersToBuild(request: Request, { project, manager }: Installation): string | null {
  if (project.inside === '' || request.isSet('buildCommand')) return null;
  const speaks = /\b(turbo|nx|lerna|filter|recursive|workspaces?|foreach)\b|(^|\s)-[rw]\b/;
  if (speaks.test(request.buildCommand ?? '')) return null;
  const tool = manager.name === 'berry' ? 'yarn' : manager.name;
  const others = project.needed.filter((member) => {
    const manifest = request.files.json(join(join(project.root, member), 'package.json'));
    return member !== project.inside && manifest !== undefined && scriptOf(manifest, 'build') !== null;
  });
  if (others.length === 0) return null;
  return others.map((member) => `(cd ${quoted(member)} && ${tool} run build)`).join(' && ');
}

function addRuntime(stage: Stage, request: Request, plan: Plan): number {
  const { installation, image, start, output, modules, isPruned } = plan;
  const { project, manager } = installation;
  const home = project.inside === '' ? '/app' : `/app/${project.inside}`;
  addNodePackages(stage, request, installation);
  const form = startForm(output?.start ?? start.command);
  const usesManager = [start.command, ...request.otherCommands].some((each) =>
    /\b(pnpm|yarn|bun)\b/.test(each),
  );
  if (usesManager && manager.setUp !== null && image.startsWith('node:')) {
    const why = 'Commands that are run here call the package manager';
    stage.plainRun(manager.setUp, why, [{ id: 'npm', target: '/root/.npm' }]);
  }
  const written = ['/app', ...writtenFolders(request, home)].map(quoted).join(' ');
  stage.add(run(`install -d -o 1000 -g 1000 ${written}`), 'A folder that the app may write to');
  stage.workdir('/app');
  const hostname = output?.start ? { HOSTNAME: '0.0.0.0' } : {};
  stage.env({ NODE_ENV: 'production', HOST: '0.0.0.0', ...hostname });
  if (modules !== null) {
    const path = [...new Set([home, '/app'])].map((each) => `${each}/node_modules/.bin:`).join('');
    stage.add(`ENV PATH="${path}$PATH"`, 'Programs of dependencies are found as in a script of package.json');
  }
  const isNext = request.app.framework === 'next';
  const hint = isNext ? ". With output: 'standalone' in next.config the image is about half as large" : '';
  copyModules(stage, installation, modules, isPruned, hint);
  if (output) copyOutput(stage, project, output);
  else copyApp(stage, project, request.buildCommand !== null, modules);
  if (project.inside !== '' && !output?.start) stage.workdir(home);
  const port = request.port ?? 3000;
  stage.env({ PORT: port });
  const plain = form.getsSignals
    ? 'The program itself is the first process, so that it gets SIGTERM'
    : 'This command keeps a shell in front of the program, which does not pass SIGTERM on';
  return stage.process({
    port,
    user,
    whyUser: 'A user of the image without rights, by number, so that anyone can see it is not root',
    healthCheck: image.startsWith('node:') ? 'node' : 'bun',
    argv: form.argv,
    why: output?.start ? output.why : (start.why ?? plain),
  });
}
