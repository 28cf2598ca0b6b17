/** .NET: published with the SDK, run with the runtime of ASP.NET, as the user that its images bring. */
import { readNetProject } from '../../ecosystems/dotnet/net-project.ts';
import { nameOf } from '../../repository.ts';
import type { Cache, Document } from '../document.ts';
import { ownInstall, type Request } from '../request.ts';
import { imageVersionOf, major } from '../steps/base-images.ts';
import { addWebServer } from '../steps/web-server.ts';
import { plainWords, startForm } from '../text/command-line.ts';
import { isPlainPath, wrong } from '../text/grammar.ts';

const nuget: Cache = { id: 'nuget', target: '/root/.nuget/packages' };

export function dotnetDockerfile(document: Document, request: Request): number {
  const asked = imageVersionOf(request, 'dotnet', 2);
  const version = asked.version.includes('.') ? asked.version : `${asked.version}.0`;
  const project = projectOf(request);
  const stage = document.stage('build', `mcr.microsoft.com/dotnet/sdk:${version}`, asked.why);
  stage.workdir('/app');
  const folder = project.includes('/') ? project.slice(0, project.lastIndexOf('/') + 1) : '';
  const references = [...request.files.entries]
    .map(({ path }) => path)
    .filter(
      (path) =>
        /\.(cs|fs|vb)proj$/.test(path) && path.startsWith(request.project.at('')) && isPlainPath(path),
    );
  const shared = [
    'global.json',
    'nuget.config',
    'NuGet.Config',
    'Directory.Build.props',
    'Directory.Packages.props',
  ]
    .map((name) => request.project.at(name))
    .filter((path) => request.files.has(path));
  if (shared.length > 0) stage.copy(shared, './');
  for (const path of references) {
    const inside = request.project.relative(path);
    const to = inside.includes('/') ? `./${inside.slice(0, inside.lastIndexOf('/') + 1)}` : './';
    stage.copy(
      [path],
      to,
      path === references[0]
        ? 'Projects only: the next step stays cached while they do not change'
        : undefined,
    );
  }
  stage.arguments('install');
  const restore = ownInstall(request, `dotnet restore "${project}"`);
  stage.run(restore, 'Packages are kept between builds', [nuget]);
  stage.copy([request.source], './');
  stage.arguments('build');
  const publish = request.isSet('buildCommand') ? `${request.buildCommand ?? 'true'} && ` : '';
  stage.run(
    `${publish}dotnet publish "${project}" -c Release -o /out`,
    'Everything that runs, in one folder',
    [nuget],
  );
  if (request.staticOutput) {
    return addWebServer(document, request, {
      from: 'build',
      path: '/out/wwwroot/',
      isSinglePage: request.staticOutput.isSinglePage,
    });
  }
  // The SDK of global.json builds for older runtimes too, and what it built runs on no newer one.
  const target = readNetProject(request.files, request.project.at(project))?.version?.value ?? version;
  const isNamed = major(target) >= 8;
  const id = isNamed ? '1654:1654' : '10001:10001';
  const runtime = document.runtime(`mcr.microsoft.com/dotnet/aspnet:${target}`, 'To run it needs no SDK');
  runtime.systemPackages();
  runtime.workdir('/app');
  runtime.copy(['/out/'], './', undefined, ['--from=build', `--chown=${id}`]);
  const port = request.port ?? 8080;
  runtime.env({ PORT: port, ASPNETCORE_URLS: `http://+:${port}`, DOTNET_CLI_TELEMETRY_OPTOUT: '1' });
  runtime.add(
    `USER ${id}`,
    isNamed
      ? 'The user "app" of the image, by number, so that anyone can see it is not root'
      : 'A user without rights',
  );
  runtime.add(`EXPOSE ${port}`);
  runtime.healthCheck('bash');
  const name = assemblyOf(request, `${folder}${nameOf(project)}`);
  const words = plainWords(request.startCommand ?? '');
  const dll = words?.[0] === 'dotnet' && words[1]?.endsWith('.dll') ? nameOf(words[1]) : `${name}.dll`;
  const isOwn = request.isSet('startCommand') && request.startCommand !== null;
  runtime.command(
    isOwn ? startForm(request.startCommand ?? '').argv : ['dotnet', dll],
    'The runtime itself is the first process, so that it gets SIGTERM',
  );
  return port;
}

/** The project of the app: named by the start command, the only one, or one with the web SDK. */
function projectOf(request: Request): string {
  const given = /--project[ =](\S+)/.exec(request.startCommand ?? '')?.[1]?.replace(/^\.\//, '');
  const here = [...request.project.files].filter((name) => /\.(cs|fs)proj$/.test(name));
  const prefix = request.project.at('');
  const below = request.files.entries
    .map(({ path }) => path)
    .filter((path) => path.startsWith(prefix) && /\.(cs|fs)proj$/.test(path))
    .map((path) => path.slice(prefix.length));
  const isTest = (path: string) => /tests?\b/i.test(path);
  const isWeb = (path: string) =>
    (request.files.text(request.project.at(path)) ?? '').includes('Microsoft.NET.Sdk.Web');
  const named =
    given === undefined ? undefined : below.find((path) => path === given || path.startsWith(`${given}/`));
  const found =
    named ??
    here[0] ??
    below.find((path) => isWeb(path) && !isTest(path)) ??
    below.find((path) => !isTest(path));
  if (found === undefined || !isPlainPath(found))
    throw wrong(
      'path',
      'There is no project file (.csproj, .fsproj) here.',
      'Set the root directory to the folder of the project.',
    );
  return found;
}

function assemblyOf(request: Request, project: string): string {
  const named = /<AssemblyName>([A-Za-z0-9._-]+)<\/AssemblyName>/.exec(
    request.files.text(request.project.at(project)) ?? '',
  )?.[1];
  return named ?? nameOf(project).replace(/\.(cs|fs)proj$/, '');
}
