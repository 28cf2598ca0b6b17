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
  const manifest = project.text('mix.exs') ?? '';
  const release = /\breleases:\s*\[\s*([a-z_][a-z0-9_]*):/.exec(manifest)?.[1];
  const name = release ?? /\bapp:\s*:([a-z_][a-z0-9_]*)/.exec(manifest)?.[1];
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
  const hasAssets = /"assets\.deploy"/.test(manifest) && project.folders.has('assets');
  const own = request.isSet('buildCommand') ? request.buildCommand : null;
  stage.run(
    own ?? `${hasAssets ? 'mix assets.deploy && ' : ''}mix compile`,
    'The build, with its variables as arguments and secrets as files that no layer keeps',
  );
  // A release has no Mix, so commands that are Mix tasks keep everything.
  const usesMix = request.otherCommands.some((command) => /\bmix\b/.test(command));
  const isRelease = name !== undefined && !usesMix && !request.isSet('startCommand');
  const start = isRelease ? '' : requiredStart(request, '"mix phx.server"');
  if (isRelease) {
    const reason = 'A release holds the app and its Erlang, and nothing else';
    stage.run('mix release --path /out', reason);
  }
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
    argv: isRelease ? [`/app/bin/${name}`, 'start'] : startForm(start).argv,
    why: isRelease
      ? 'The release takes the place of its start script, so that it gets SIGTERM'
      : 'As the start command says',
  });
}
