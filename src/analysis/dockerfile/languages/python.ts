/**
 * Python apps. Dependencies go into an environment of their own, which is then copied as it is; the tool that made it
 * stays behind. Commands such as `poetry run …` lose their first words, as the environment is in the path.
 */
import { join } from '../../repository.ts';
import type { Cache, Document, Stage } from '../document.ts';
import { folderSource, type Request, requiredStart, writtenFolders } from '../request.ts';
import { imageVersionOf } from '../steps/base-images.ts';
import { addNodeTools, needsNodeTools } from '../steps/node-tools.ts';
import { addStaticOutput } from '../steps/web-server.ts';
import { startForm } from '../text/command-line.ts';
import { type PythonInstallation, pythonInstallation } from './python-install.ts';

const environment = '/opt/venv';
const pipCache: Cache = { id: 'pip', target: '/root/.cache/pip' };

export function pythonDockerfile(document: Document, request: Request): number {
  const { version, why } = imageVersionOf(request, 'python', 2);
  const installation = pythonInstallation(request);
  const image = `python:${version}-slim`;
  addDependencies(document, installation, installation.compiles ? `python:${version}` : image, why);
  const needsBuild =
    request.buildCommand !== null || installation.afterSources !== null || request.staticOutput !== null;
  if (needsBuild) addBuild(document, request, installation);
  if (request.staticOutput)
    return addStaticOutput(document, request, request.staticOutput, homeOf(installation));
  const start = requiredStart(request, '"python main.py" or "gunicorn app:app --bind 0.0.0.0:$PORT"');
  const stage = document.runtime(image, 'What runs starts from a clean image, without compilers and tools');
  stage.systemPackages(
    [...request.systemPackages, ...installation.libraries],
    'Libraries that compiled dependencies load',
  );
  stage.user(writtenFolders(request, homeOf(installation)));
  stage.workdir('/app');
  addEnvironment(stage);
  stage.env({ PYTHONUNBUFFERED: '1' }, 'Output is seen at once, not when a buffer is full');
  stage.copy(
    [`${environment}/`],
    `${environment}/`,
    'Dependencies as they were installed; the layer stays the same as long as they do',
    [`--from=${installation.afterSources === null ? 'dependencies' : 'build'}`],
  );
  const own = '--chown=10001:10001';
  if (needsBuild) stage.copy(['/app/'], './', 'The app as built', ['--from=build', own]);
  else stage.copy([folderSource(installation.root)], './', undefined, [own]);
  if (installation.inside !== '') stage.workdir(homeOf(installation));
  const port = request.port ?? 8000;
  stage.env({ PORT: port });
  const command = request.isSet('startCommand') ? start : withoutTool(start);
  return stage.process({
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
  installation: PythonInstallation,
  image: string,
  why: string,
): void {
  const stage = document.stage(
    'dependencies',
    image,
    installation.compiles ? `${why}; the full image has the compilers that some dependencies need` : why,
  );
  stage.systemPackages();
  stage.workdir('/app');
  if (installation.tool !== null) {
    stage.plainRun(`pip install ${installation.tool}`, 'The tool stays in this stage', [pipCache]);
  }
  stage.add(`RUN python -m venv ${environment}`, 'An environment of its own can be copied whole');
  addEnvironment(stage);
  stage.env(installation.env);
  stage.arguments('install');
  if (installation.command === null) return;
  if (installation.copiesSources)
    stage.copy(
      [folderSource(installation.root)],
      './',
      'The manifest installs the project itself, so everything is copied first',
    );
  else copyManifests(stage, installation);
  stage.run(installation.command, 'Installed with downloads kept between builds', installation.caches);
}

function addBuild(document: Document, request: Request, installation: PythonInstallation): void {
  const stage = document.stage('build', 'dependencies', 'Built where all tools are');
  if (needsNodeTools(request)) addNodeTools(stage, request);
  if (!installation.copiesSources) stage.copy([folderSource(installation.root)], './');
  stage.arguments('build');
  if (installation.afterSources !== null)
    stage.run(installation.afterSources, 'The project itself', installation.caches);
  if (installation.inside !== '') stage.workdir(homeOf(installation));
  if (request.buildCommand !== null) {
    const command = request.isSet('buildCommand') ? request.buildCommand : withoutTool(request.buildCommand);
    stage.run(command, 'The build, with its variables as arguments and secrets as files that no layer keeps');
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
    stage.copy(paths, `./${folder}`, why);
    why = undefined;
  }
}
