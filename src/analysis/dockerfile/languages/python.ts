/**
 * Python apps. Dependencies go into an environment of their own, which is then copied as it is; the tool that made it
 * stays behind. Commands such as `poetry run …` lose their first words, as the environment is in the path.
 */
import { join } from '../../repository.ts';
import { folderSource, type Request, requiredStart, writtenFolders } from '../request.ts';
import { versionOf } from '../steps/base-images.ts';
import {
  addArguments,
  addPlainRun,
  addProcess,
  addRun,
  addSystemPackages,
  addUser,
  type Cache,
} from '../steps/build-steps.ts';
import { addNodeTools, needsNodeTools } from '../steps/node-tools.ts';
import { addStaticOutput } from '../steps/web-server.ts';
import { startForm } from '../text/command-line.ts';
import type { Document, Stage } from '../text/document.ts';
import { copy } from '../text/grammar.ts';
import { type PythonInstallation, pythonInstallation } from './python-install.ts';

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
  const start = requiredStart(request, '"python main.py" or "gunicorn app:app --bind 0.0.0.0:$PORT"');
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
  else stage.add(copy([folderSource(installation.root)], './', [own]));
  if (installation.inside !== '') stage.workdir(homeOf(installation));
  const port = request.port ?? 8000;
  stage.env({ PORT: port });
  const command = request.isSet('startCommand') ? start : withoutTool(start);
  return addProcess(stage, request, {
    port,
    healthCheck: 'python',
    argv: startForm(command).argv,
    why:
      command === start
        ? 'The program itself takes the place of the shell, so that it gets SIGTERM'
        : `What "${start.split(' ').slice(0, 2).join(' ')}" would run: its environment is in the path`,
  });
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
      copy([folderSource(installation.root)], './'),
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
  if (!installation.copiesSources) stage.add(copy([folderSource(installation.root)], './'));
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
