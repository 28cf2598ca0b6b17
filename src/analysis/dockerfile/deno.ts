/** Deno: its own image; what it downloads goes into a folder that is copied. */
import { defaultVersions, versionOf } from './base-images.ts';
import { addArguments, addRun, addUser } from './build-steps.ts';
import { plainWords, startForm } from './command-line.ts';
import type { Document } from './document.ts';
import { copy, isPlainPath, wrong } from './grammar.ts';
import { addHealthCheck } from './health-check.ts';
import { inApp, type Request, text } from './request.ts';
import { addStaticOutput } from './web-server.ts';

export function denoDockerfile(document: Document, request: Request): number {
  const asked = versionOf(request, 'deno');
  // Only whole versions are tags of this image.
  const isWhole = asked.version.split('.').length === 3;
  const version = isWhole
    ? asked.version
    : asked.version === '2'
      ? defaultVersions.deno
      : `${asked.version}.0.0`.split('.').slice(0, 3).join('.');
  const image = `denoland/deno:${version}`;
  const source = request.directory === '' ? '.' : `${request.directory}/`;
  const stage = document.stage('build', image, asked.why);
  stage.workdir('/app');
  stage.env({ DENO_DIR: '/deno-dir' });
  addArguments(stage, request, 'build');
  stage.add(copy([source], './'));
  const command = request.startCommand === null ? null : taskOf(request, request.startCommand);
  const entry = plainWords(command ?? '')?.find((word) => /\.[cm]?[jt]sx?$/.test(word) && isPlainPath(word));
  const install = request.isSet('installCommand')
    ? request.installCommand
    : entry === undefined
      ? request.installCommand
      : `deno cache ${entry}`;
  if (install !== null)
    addRun(stage, request, install, [], 'Dependencies go into a folder that is copied with the app');
  if (request.buildCommand !== null) addRun(stage, request, request.buildCommand, [], 'The build');
  if (request.staticOutput) return addStaticOutput(document, request, request.staticOutput, '/app');
  if (command === null)
    throw wrong(
      'startCommand',
      'Nothing says how this app is started.',
      'Set a start command, as in "deno run --allow-net main.ts".',
    );
  const runtime = document.runtime(image, 'What runs starts from a clean image');
  addUser(runtime, ['/deno-dir']);
  runtime.workdir('/app');
  const port = request.port ?? 8000;
  runtime.env({ DENO_DIR: '/deno-dir', PORT: port });
  const own = ['--from=build', '--chown=10001:10001'];
  runtime.add(copy(['/deno-dir/'], '/deno-dir/', own));
  runtime.add(copy(['/app/'], './', own), 'The app as built');
  runtime.add('USER 10001:10001');
  runtime.add(`EXPOSE ${port}`);
  addHealthCheck(runtime, request, 'deno');
  runtime.command(startForm(command).argv, 'Deno itself is the first process, so that it gets SIGTERM');
  return port;
}

/** `deno task start` is a shell of Deno's own around another Deno. */
function taskOf(request: Request, command: string): string {
  const name = /^deno task ([\w:-]+)$/.exec(command)?.[1];
  if (name === undefined || request.isSet('startCommand')) return command;
  const file =
    request.files.firstOf(request.directory, ['deno.json', 'deno.jsonc']) ?? inApp(request, 'deno.json');
  const task = text(request.files.json(file), 'tasks', name);
  return task !== null && task.length < 2_000 && !task.includes('\n') ? task.trim() : command;
}
