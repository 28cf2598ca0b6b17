/** Elixir: a release, which brings its own Erlang, run on the image it was built on. */

import type { Cache, Document } from '../document.ts';
import { ownInstall, type Request, requiredStart } from '../request.ts';
import { imageVersionOf } from '../steps/base-images.ts';
import { startForm } from '../text/command-line.ts';

const hex: Cache = { id: 'hex', target: '/root/.hex' };

export function elixirDockerfile(document: Document, request: Request): number {
  const { version, why } = imageVersionOf(request, 'elixir');
  const { project } = request;
  const image = `elixir:${version}-slim`;
  const start = requiredStart(request, '"bin/shop start"');
  const commands = [start, ...request.otherCommands];
  // A release has no Mix and no folder of builds, so commands that need one of them keep everything.
  const isRelease = !commands.some((command) => /\bmix\b|_build\//.test(command));
  const stage = document.stage('build', image, why);
  stage.systemPackages(
    [...request.systemPackages, 'build-essential', 'git'],
    'Some dependencies are compiled from C, or fetched by Git',
  );
  stage.workdir('/app');
  stage.env({ MIX_ENV: 'prod', MIX_HOME: '/opt/mix' });
  stage.plainRun('mix local.hex --force && mix local.rebar --force');
  stage.arguments('install');
  stage.copyManifests(['mix.exs', 'mix.lock']);
  for (const { path } of request.files.entries) {
    const member = path.startsWith(project.at('apps/')) ? project.relative(path) : '';
    if (/^apps\/[\w-]+\/mix\.exs$/.test(member))
      stage.copy([path], `./${member.slice(0, -'mix.exs'.length)}`);
  }
  const install = ownInstall(request, 'mix deps.get --only prod');
  stage.run(install, 'Downloads are kept between builds', [hex]);
  if (project.folders.has('config'))
    stage.copy(
      [project.at('config/')],
      './config/',
      'Dependencies are compiled with the settings of the app',
    );
  stage.plainRun('mix deps.compile');
  stage.copy([request.source], './');
  stage.arguments('build');
  const build = (request.buildCommand ?? 'mix compile').replace(/ && mix release$/, '');
  stage.run(build, 'The build, with its variables as arguments and secrets as files that no layer keeps');
  if (isRelease)
    stage.run('mix release --path /out', 'A release holds the app and its Erlang, and nothing else');
  else if (commands.some((command) => command.includes('_build/')))
    stage.run('mix release --overwrite', 'A command runs the release where Mix puts it');
  const runtime = document.runtime(image, 'The same image, so that libraries of the system are the same');
  runtime.systemPackages();
  runtime.user([]);
  runtime.workdir('/app');
  const port = request.port ?? 4000;
  runtime.env({ MIX_ENV: 'prod', LANG: 'C.UTF-8', PHX_SERVER: 'true', PORT: port });
  const options = ['--from=build', '--chown=10001:10001'];
  if (!isRelease) {
    runtime.env({ MIX_HOME: '/opt/mix' });
    runtime.copy(['/opt/mix/'], '/opt/mix/', 'Mix with its tools', options);
  }
  runtime.copy([isRelease ? '/out/' : '/app/'], './', undefined, options);
  return runtime.process({
    port,
    healthCheck: 'bash',
    argv: startForm(start).argv,
    why: isRelease
      ? 'The release takes the place of its start script, so that it gets SIGTERM'
      : 'As the start command says',
  });
}
