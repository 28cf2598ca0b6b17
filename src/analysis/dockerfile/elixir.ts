/** Elixir: a release, which brings its own Erlang, run on the image it was built on. */
import { versionOf } from './base-images.ts';
import { addArguments, addPlainRun, addRun, addSystemPackages, addUser, type Cache } from './build-steps.ts';
import { startForm } from './command-line.ts';
import type { Document } from './document.ts';
import { copy, wrong } from './grammar.ts';
import { addHealthCheck } from './health-check.ts';
import { filesIn, inApp, type Request } from './request.ts';

const hex: Cache = { id: 'hex', target: '/root/.hex' };

export function elixirDockerfile(document: Document, request: Request): number {
  const { version, why } = versionOf(request, 'elixir');
  const names = filesIn(request);
  const image = `elixir:${version}-slim`;
  const manifest = request.files.text(inApp(request, 'mix.exs')) ?? '';
  const release = /\breleases:\s*\[\s*([a-z_][a-z0-9_]*):/.exec(manifest)?.[1];
  const name = release ?? /\bapp:\s*:([a-z_][a-z0-9_]*)/.exec(manifest)?.[1];
  const folders = request.files.directory(request.directory)?.folders ?? new Set<string>();
  const stage = document.stage('build', image, why);
  addSystemPackages(
    stage,
    [...request.systemPackages, 'build-essential', 'git'],
    'Some dependencies are compiled from C, or fetched by Git',
  );
  stage.workdir('/app');
  stage.env({ MIX_ENV: 'prod', MIX_HOME: '/opt/mix' });
  addPlainRun(stage, request, 'mix local.hex --force && mix local.rebar --force', []);
  addArguments(stage, request, 'install');
  stage.add(
    copy(
      ['mix.exs', 'mix.lock'].filter((each) => names.has(each)).map((each) => inApp(request, each)),
      './',
    ),
    'Manifests only: the next step stays cached while they do not change',
  );
  for (const { path } of request.files.entries) {
    const member = path.slice(inApp(request, '').length);
    if (/^apps\/[\w-]+\/mix\.exs$/.test(member) && path.startsWith(inApp(request, 'apps/'))) {
      stage.add(copy([path], `./${member.slice(0, -'mix.exs'.length)}`));
    }
  }
  addRun(
    stage,
    request,
    request.isSet('installCommand') ? (request.installCommand ?? 'true') : 'mix deps.get --only prod',
    [hex],
    'Downloads are kept between builds',
  );
  if (folders.has('config'))
    stage.add(
      copy([`${inApp(request, 'config')}/`], './config/'),
      'Dependencies are compiled with the settings of the app',
    );
  addPlainRun(stage, request, 'mix deps.compile', []);
  stage.add(copy([request.directory === '' ? '.' : `${request.directory}/`], './'));
  addArguments(stage, request, 'build');
  const hasAssets = /"assets\.deploy"/.test(manifest) && folders.has('assets');
  const own = request.isSet('buildCommand') ? request.buildCommand : null;
  const build = own ?? `${hasAssets ? 'mix assets.deploy && ' : ''}mix compile`;
  addRun(
    stage,
    request,
    build,
    [],
    'The build, with its variables as arguments and secrets as files that no layer keeps',
  );
  // A release has no Mix, so commands that are Mix tasks keep everything.
  const usesMix = request.otherCommands.some((command) => /\bmix\b/.test(command));
  const isRelease = name !== undefined && !usesMix && !request.isSet('startCommand');
  if (isRelease)
    addRun(
      stage,
      request,
      'mix release --path /out',
      [],
      'A release holds the app and its Erlang, and nothing else',
    );
  else if (request.startCommand === null)
    throw wrong(
      'startCommand',
      'Nothing says how this app is started.',
      'Set a start command, as in "mix phx.server".',
    );
  const runtime = document.runtime(image, 'The same image, so that libraries of the system are the same');
  addSystemPackages(runtime, request.systemPackages, 'Debian packages that were asked for');
  addUser(runtime, []);
  runtime.workdir('/app');
  const port = request.port ?? 4000;
  runtime.env({ MIX_ENV: 'prod', LANG: 'C.UTF-8', PHX_SERVER: 'true', PORT: port });
  if (!isRelease) {
    runtime.env({ MIX_HOME: '/opt/mix' });
    runtime.add(
      copy(['/opt/mix/'], '/opt/mix/', ['--from=build', '--chown=10001:10001']),
      'Mix with its tools',
    );
  }
  runtime.add(copy([isRelease ? '/out/' : '/app/'], './', ['--from=build', '--chown=10001:10001']));
  runtime.add('USER 10001:10001');
  runtime.add(`EXPOSE ${port}`);
  addHealthCheck(runtime, request, 'bash');
  const argv = isRelease ? [`/app/bin/${name}`, 'start'] : startForm(request.startCommand ?? '').argv;
  runtime.command(
    argv,
    isRelease
      ? 'The release takes the place of its start script, so that it gets SIGTERM'
      : 'As the start command says',
  );
  return port;
}
