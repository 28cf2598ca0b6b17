/** .NET: project files of C#, F# and Visual Basic. Tests and class libraries run nowhere. */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced, firstEvidenced, guessed } from '../../evidence.ts';
import { join, type Repository } from '../../repository.ts';
import { filesIn, findIn, findInAny, ownSources } from '../code.ts';
import { healthInCode } from '../code-health.ts';
import { portInCode } from '../code-port.ts';
import { candidate, manager, versionsOf } from '../draft.ts';
import { sqliteVolumes } from '../sqlite-volumes.ts';
import { toolVersion } from '../tool-versions.ts';
import { isRunnable, type NetProject, projectEndings, readNetProject } from './net-project.ts';

export const dotnet: Detector = {
  name: 'dotnet',
  detect({ path, files }, repository) {
    if (![...files].some((name) => projectEndings.some((ending) => name.endsWith(ending)))) return [];
    const projects = projectEndings
      .flatMap((ending) => filesIn(repository, path, ending))
      .flatMap((file) => readNetProject(repository, file) ?? []);
    const [best] = [...projects].sort((one, other) => Number(isRunnable(other)) - Number(isRunnable(one)));
    return best ? [describe(repository, path, best)] : [];
  },
};

function describe(repository: Repository, directory: string, project: NetProject): Candidate {
  const { file, name } = project;
  const sources = ownSources(repository, directory, ['.cs', '.fs', '.vb'], []);
  const framework = frameworkOf(repository, directory, project, sources);
  const isPage = project.sdk.endsWith('BlazorWebAssembly');
  const isApp = isRunnable(project);
  const settings = filesIn(repository, directory, '.json').filter((path) =>
    /appsettings(?:\.Production)?\.json$/.test(path),
  );
  const sdk = toolVersion(repository, directory, 'dotnet');
  const draft = {
    name: evidenced(name, certain, file, name.slice(0, 60)),
    language: evidenced(project.language, certain, file, project.language),
    framework:
      framework === undefined ? undefined : evidenced(framework, certain, file, project.sdk || framework),
    packageManager: manager('nuget', repository.firstOf(directory, ['packages.lock.json']), file),
    versions: versionsOf({ dotnet: firstEvidenced(project.version, sdk) }),
    installCommand: evidenced('dotnet restore', conventional, file, 'NuGet'),
    buildCommand: evidenced(
      `dotnet publish${project.isAlone ? '' : ` ${name}${project.ending}`} -c Release -o out`,
      conventional,
      file,
      'dotnet',
    ),
    startCommand:
      isPage || !isApp
        ? evidenced(null, conventional, file, 'nothing runs')
        : evidenced(`dotnet out/${project.assembly}.dll`, certain, file, project.assembly),
    staticOutput: isPage
      ? evidenced({ directory: 'out/wwwroot', isSinglePage: true }, conventional, file, 'Blazor WebAssembly')
      : undefined,
    port: isPage ? undefined : portOf(repository, project, settings, sources),
    healthPath: isPage ? undefined : healthInCode(repository, sources),
    volumes: isPage ? [] : sqliteVolumes(repository, directory, [...settings, ...sources]),
  };
  const score = isApp ? (framework ? 0.9 : 0.75) : 0.3;
  return candidate('dotnet', directory, score, draft, isApp ? 'app' : 'library');
}

const byPackage: Readonly<Record<string, string>> = {
  giraffe: 'giraffe',
  saturn: 'saturn',
  falco: 'falco',
  suave: 'suave',
  'umbraco.cms': 'umbraco',
  'orchardcore.application.cms.targets': 'orchard',
  carter: 'carter',
  fastendpoints: 'fastendpoints',
  nancy: 'nancy',
};

function frameworkOf(
  repository: Repository,
  directory: string,
  { sdk, packages }: NetProject,
  sources: readonly string[],
): string | undefined {
  if (sdk.endsWith('BlazorWebAssembly')) return 'blazor';
  const isWeb =
    sdk.endsWith('Sdk.Web') ||
    packages.has('microsoft.aspnetcore.app') ||
    packages.has('microsoft.aspnetcore');
  const named = [...packages].map((each) => byPackage[each]).find((each) => each !== undefined);
  if (named !== undefined && ['giraffe', 'saturn', 'falco', 'suave', 'umbraco', 'orchard'].includes(named))
    return named;
  if (!isWeb) return undefined;
  const blazor = findInAny(
    repository,
    sources,
    /\bAddRazorComponents\(|\bAddServerSideBlazor\(|\bMapBlazorHub\(/,
  );
  const isBlazor =
    blazor &&
    ['Components/App.razor', 'App.razor', 'Pages/_Host.cshtml'].some((name) =>
      repository.has(join(directory, name)),
    );
  return isBlazor ? 'blazor' : 'aspnet';
}

function portOf(
  repository: Repository,
  project: NetProject,
  settings: readonly string[],
  sources: readonly string[],
): Evidenced<number | null> {
  const isWeb =
    project.sdk.endsWith('Sdk.Web') ||
    [...project.packages].some((name) => /aspnetcore|giraffe|saturn|falco|suave/.test(name));
  if (!isWeb) {
    const listens = findInAny(repository, sources, /\bHttpListener\b|\bTcpListener\b|WebApplication\./);
    return (
      (listens && portInCode(repository, sources)) ?? evidenced(null, guessed, project.file, 'no web project')
    );
  }
  const set = settings
    .map((path) => findIn(repository, path, /"(?:urls|url)"\s*:\s*"http:\/\/[^"]{0,60}:(\d{2,5})/i))
    .find((hit) => hit !== undefined);
  if (set) return evidenced(Number(set.match[1]), certain, set.file, set.text.trim().slice(0, 80), set.line);
  return (
    portInCode(repository, sources) ?? evidenced(8080, conventional, project.file, 'custom of its images')
  );
}
