/**
 * Languages of the table in `ecosystems/other`: their official image, and the commands of the analysis. What such a
 * program needs while it runs is not known, so there is one stage; the image is larger than it would have to be, and
 * says so.
 */
import { languageRow } from '../../ecosystems/other/other-languages.ts';
import type { Document } from '../document.ts';
import { type Request, requiredStart, writtenFolders } from '../request.ts';
import { addStaticOutput } from '../steps/web-server.ts';
import { startForm } from '../text/command-line.ts';
import { wrong } from '../text/grammar.ts';

export function otherDockerfile(document: Document, request: Request): number {
  const { language, framework, packageManager } = request.app;
  const row = languageRow(language, [packageManager?.name, framework]);
  if (!row) {
    throw wrong(
      'language',
      `There is no base image for ${JSON.stringify(language.slice(0, 60))} that Slipway could start from.`,
      'Add a Dockerfile to the repository.',
    );
  }
  const asked = request.versions[row.versionKey ?? language] ?? '';
  const version = /^\d+(\.\d+){0,2}$/.test(asked) ? asked : (row.imageVersion ?? '');
  const image = row.image.replace('{version}', version);
  const why =
    'The official image of the language; what the program needs while it runs is not known, so there is one stage';
  const stage = request.staticOutput ? document.stage('build', image, why) : document.runtime(image, why);
  stage.systemPackages(
    [...request.systemPackages, ...(row.packages ?? [])],
    'The tools of the language, or what was asked for',
  );
  stage.user(writtenFolders(request, '/app'));
  stage.workdir('/app');
  stage.copy([request.source], './', undefined, ['--chown=10001:10001']);
  if (!row.asRoot) {
    stage.env({ HOME: '/home/app' });
    stage.add(
      'USER 10001:10001',
      'It is built by the user who runs it, so that both find the same downloads',
    );
  }
  stage.arguments('build');
  const { installCommand, buildCommand } = request;
  if (installCommand !== null) stage.run(installCommand, 'As the install command says');
  if (buildCommand !== null) stage.run(buildCommand, 'As the build command says');
  if (request.staticOutput) return addStaticOutput(document, request, request.staticOutput, '/app');
  const start = requiredStart(request);
  const port = request.port ?? 8080;
  stage.env({ PORT: port });
  return stage.process({
    port,
    ...(row.asRoot ? { whyUser: 'A user without rights, by number' } : { user: null }),
    healthCheck: 'bash',
    argv: startForm(start).argv,
    why: 'The program itself takes the place of the shell where that is possible, so that it gets SIGTERM',
  });
}
