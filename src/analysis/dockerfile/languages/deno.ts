/** Deno: its own image; what it downloads goes into a folder that is copied. */

import { stringAt } from '../../readers/shape.ts';
import type { Document } from '../document.ts';
import { type Request, requiredStart } from '../request.ts';
import { defaultVersions, imageVersionOf } from '../steps/base-images.ts';
import { addStaticOutput } from '../steps/web-server.ts';
import { plainWords, startForm } from '../text/command-line.ts';
import { isPlainPath } from '../text/grammar.ts';

export function denoDockerfile(document: Document, request: Request): number {
  const asked = imageVersionOf(request, 'deno');
  // Only whole versions are tags of this image.
  const isWhole = asked.version.split('.').length === 3;
  const version = isWhole
    ? asked.version
    : asked.version === '2'
      ? defaultVersions.deno
      : `${asked.version}.0.0`.split('.').slice(0, 3).join('.');
  const image = `denoland/deno:${version}`;
  const stage = document.stage('build', image, asked.why);
  stage.workdir('/app');
  stage.env({ DENO_DIR: '/deno-dir' });
  stage.arguments('build');
  stage.copy([request.source], './');
  const command = request.startCommand === null ? null : taskOf(request, request.startCommand);
  const entry = plainWords(command ?? '')?.find((word) => /\.[cm]?[jt]sx?$/.test(word) && isPlainPath(word));
  const isOwn = request.isSet('installCommand') || entry === undefined;
  const install = isOwn ? request.installCommand : `deno cache ${entry}`;
  if (install !== null) stage.run(install, 'Dependencies go into a folder that is copied with the app');
  if (request.buildCommand !== null) stage.run(request.buildCommand, 'The build');
  if (request.staticOutput) return addStaticOutput(document, request, request.staticOutput, '/app');
  const start = command ?? requiredStart(request, '"deno run --allow-net main.ts"');
  const runtime = document.runtime(image, 'What runs starts from a clean image');
  runtime.user(['/deno-dir']);
  runtime.workdir('/app');
  const port = request.port ?? 8000;
  runtime.env({ DENO_DIR: '/deno-dir', PORT: port });
  const own = ['--from=build', '--chown=10001:10001'];
  runtime.copy(['/deno-dir/'], '/deno-dir/', undefined, own);
  runtime.copy(['/app/'], './', 'The app as built', own);
  return runtime.process({
    port,
    healthCheck: 'deno',
    argv: startForm(start).argv,
    why: 'Deno itself is the first process, so that it gets SIGTERM',
  });
}

/** `deno task start` is a shell of Deno's own around another Deno. */
function taskOf(request: Request, command: string): string {
  const name = /^deno task ([\w:-]+)$/.exec(command)?.[1];
  if (name === undefined || request.isSet('startCommand')) return command;
  const file = request.project.first('deno.json', 'deno.jsonc') ?? '';
  const task = stringAt(request.files.json(file), 'tasks', name);
  return task !== undefined && task.length < 2_000 && !task.includes('\n') ? task.trim() : command;
}
