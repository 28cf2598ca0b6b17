/**
 * Python apps. Dependencies go into an environment of their own, which is then copied as it is; the tool that made it
 * stays behind. Commands such as `poetry run …` lose their first words, as the environment is in the path.
 */
import { join } from '../repository.ts';
import { versionOf } from './base-images.ts';
import { addArguments, addPlainRun, addRun, addSystemPackages, addUser, type Cache } from './build-steps.ts';
import { startForm } from './command-line.ts';
import type { Document, Stage } from './document.ts';
import { copy, wrong } from './grammar.ts';
import { addHealthCheck } from './health-check.ts';
import { addNodeTools, needsNodeTools } from './node-tools.ts';
import { type PythonInstallation, pythonInstallation } from './python-install.ts';
import { type Request, writtenFolders } from './request.ts';
import { addStaticOutput } from './web-server.ts';

const environment = '/opt/venv';
const pipCache: Cache = { id: 'pip', target: '/root/.cache/pip' };

export function pythonDockerfile(document: Document, request: Request): number {
  const { version, why } = versionOf(request, 'python', 2);
  const installation = pythonInstallation(request);
  const image = `python:${version}-slim`;
  addDependencies(document, request, installation, installation.compiles ? `python:${version}` : image, why);
  const needsBuild =
    request.buildCommand !== null || installation.afterSources !== null || request.staticOutput !== null;
  if (needsBuild) addBuild(document, request, installation);
  if (request.staticOutput)
    return addStaticOutput(document, request, request.staticOutput, homeOf(installation));
  if (request.startCommand === null) {
    throw wrong(
      'startCommand',
      'Nothing says how this app is started.',
      'Set a start command, as in "python main.py" or "gunicorn app:app --bind 0.0.0.0:$PORT".',
    );
  }
  const stage = document.runtime(image, 'What runs starts from a clean image, without compilers and tools');
  addSystemPackages(
    stage,
    [...request.systemPackages, ...installation.libraries],
    'Libraries that compiled dependencies load',
  );
  addUser(stage, writtenFolders(request, homeOf(installation)));
  stage.workdir('/app');
  addEnvironment(stage);
  stage.env({ PYTHONUNBUFFERED: '1' }, 'Output is seen at once, not when a buffer is full');
  stage.add(
    copy([`${environment}/`], `${environment}/`, [
      `--from=${installation.afterSources === null ? 'dependencies' : 'build'}`,
    ]),
    'Dependencies as they were installed; the layer stays the same as long as they do',
  );
  const own = '--chown=10001:10001';
  if (needsBuild) stage.add(copy(['/app/'], './', ['--from=build', own]), 'The app as built');
  else stage.add(copy([source(installation)], './', [own]));
  if (installation.inside !== '') stage.workdir(homeOf(installation));
  const port = request.port ?? 8000;
  stage.env({ PORT: port });
  stage.add('USER 10001:10001');
  stage.add(`EXPOSE ${port}`);
  addHealthCheck(stage, request, 'python');
  const command = request.isSet('startCommand') ? request.startCommand : withoutTool(request.startCommand);
  stage.command(
    startForm(command).argv,
    command === request.startCommand
      ? 'The program itself takes the place of the shell, so that it gets SIGTERM'
      : `What "${request.startCommand.split(' ').slice(0, 2).join(' ')}" would run: its environment is in the path`,
  );
  return port;
}

function addDependencies(
  document: Document,
  request: Request,
  installation: PythonInstallation,
  image: string,
  why: string,
): void {
  const stage = document.stage(
    'dependencies',
    image,
    installation.compiles ? `${why}; the full image has the compilers that some dependencies need` : why,
  );
  addSystemPackages(stage, request.systemPackages, 'Debian packages that were asked for');
  stage.workdir('/app');
  if (installation.tool !== null) {
    addPlainRun(
      stage,
      request,
      `pip install ${installation.tool}`,
      [pipCache],
      'The tool stays in this stage',
    );
  }
  stage.add(`RUN python -m venv ${environment}`, 'An environment of its own can be copied whole');
  addEnvironment(stage);
  stage.env(installation.env);
  addArguments(stage, request, 'install');
  if (installation.command === null) return;
  if (installation.copiesSources)
    stage.add(
      copy([source(installation)], './'),
      'The manifest installs the project itself, so everything is copied first',
    );
  else copyManifests(stage, installation);
  addRun(
    stage,
    request,
    installation.command,
    installation.caches,
    'Installed with downloads kept between builds',
  );
}

function addBuild(document: Document, request: Request, installation: PythonInstallation): void {
  const stage = document.stage('build', 'dependencies', 'Built where all tools are');
  if (needsNodeTools(request)) addNodeTools(stage, request);
  if (!installation.copiesSources) stage.add(copy([source(installation)], './'));
  addArguments(stage, request, 'build');
  if (installation.afterSources !== null)
    addRun(stage, request, installation.afterSources, installation.caches, 'The project itself');
  if (installation.inside !== '') stage.workdir(homeOf(installation));
  if (request.buildCommand !== null) {
    const command = request.isSet('buildCommand') ? request.buildCommand : withoutTool(request.buildCommand);
    addRun(
      stage,
      request,
      command,
      [],
      'The build, with its variables as arguments and secrets as files that no layer keeps',
    );
  }
  if (needsNodeTools(request)) stage.add('RUN rm -rf node_modules', 'Needed by the build only');
}

function addEnvironment(stage: Stage): void {
  stage.add(`ENV VIRTUAL_ENV=${environment} \\\n    PATH="${environment}/bin:$PATH"`);
}

function withoutTool(command: string): string {
  return command.replace(/^(?:poetry|pdm|pipenv|uv) run (?=[A-Za-z])/, '');
}

function source({ root }: PythonInstallation): string {
  return root === '' ? '.' : `${root}/`;
}

function homeOf({ inside }: PythonInstallation): string {
  return inside === '' ? '/app' : `/app/${inside}`;
}

/** Those of one folder in one step. */
function copyManifests(stage: Stage, { root, files }: PythonInstallation): void {
  const folderOf = (file: string) => file.slice(0, file.lastIndexOf('/') + 1);
  let why: string | undefined =
    'Only what names dependencies: the next step stays cached while it does not change';
  for (const folder of new Set(files.map(folderOf))) {
    const paths = files.filter((file) => folderOf(file) === folder).map((file) => join(root, file));
    stage.add(copy(paths, `./${folder}`), why);
    why = undefined;
  }
}
