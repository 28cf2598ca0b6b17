/** .NET: project files of C#, F# and Visual Basic. Tests and class libraries run nowhere. */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced, evidencedBy, guessed } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { parentOf, type Repository } from '../../repository.ts';
import { healthInCode } from '../code-health.ts';
import { portInCode } from '../code-port.ts';
import { candidate, manager, staticSite, versionsOf } from '../draft.ts';
import { sqliteVolumes } from '../sqlite-volumes.ts';
import { toolVersion } from '../tool-versions.ts';
import { pinOrLeast } from '../version-lines.ts';
import { namedMember, workspaceFinder } from '../workspace-members.ts';
import { isRunnable, type NetProject, projectEndings, readNetProject } from './net-project.ts';

export const dotnet: Detector = {
  name: 'dotnet',
  detect(project) {
    const projects = project
      .withEnding(...projectEndings)
      .flatMap((file) => readNetProject(project.repository, file) ?? []);
    const best = projects.find(isRunnable) ?? projects[0];
    return best ? [describe(project, best)] : [];
  },
};

/** A solution of several apps. One app with its libraries and tests is no workspace. */
export const dotnetSolution = workspaceFinder(
  'dotnet',
  ['.sln', '.slnx'],
  'solution',
  (repository, file, root) => {
    const projects = repository.lines(file).flatMap((line) => {
      const path = /["']([^"']{1,200}\.(?:cs|fs|vb)proj)["']/.exec(line)?.[1];
      const member = path === undefined ? undefined : namedMember(root, path);
      return (member === undefined ? undefined : readNetProject(repository, member)) ?? [];
    });
    const parts = projects.filter(({ isTest }) => !isTest);
    if (parts.filter(isRunnable).length < 2) return [];
    return [...new Set(parts.map((part) => parentOf(part.file) ?? ''))];
  },
);

function describe(project: Project, found: NetProject): Candidate {
  const { file, name, sdk } = found;
  const { repository } = project;
  const sources = project.sources(['.cs', '.fs', '.vb']);
  const framework = frameworkOf(project, found, sources);
  const isApp = isRunnable(found);
  const settings = project
    .withEnding('.json')
    .filter((path) => /appsettings(?:\.Production)?\.json$/.test(path));
  const process = () => ({
    startCommand: isApp
      ? evidenced(`dotnet out/${found.assembly}.dll`, certain, file, found.assembly)
      : evidenced(null, conventional, file, 'nothing runs'),
    port: portOf(repository, found, settings, sources),
    healthPath: healthInCode(repository, sources),
    ...sqliteVolumes(project, [...settings, ...sources]),
  });
  const target = found.isAlone ? '' : ` ${name}${found.ending}`;
  const draft = {
    name: evidenced(name, certain, file, name.slice(0, 60)),
    language: evidenced(found.language, certain, file, found.language),
    framework: framework === undefined ? undefined : evidenced(framework, certain, file, sdk || framework),
    packageManager: manager('nuget', project.first('packages.lock.json'), file),
    versions: versionsOf({ dotnet: pinOrLeast(toolVersion(project, 'dotnet'), found.version) }),
    installCommand: evidenced('dotnet restore', conventional, file, 'NuGet'),
    buildCommand: evidenced(`dotnet publish${target} -c Release -o out`, conventional, file, 'dotnet'),
    ...(sdk.endsWith('BlazorWebAssembly')
      ? staticSite({ directory: 'out/wwwroot', isSinglePage: true }, file, 'Blazor WebAssembly')
      : process()),
  };
  const score = isApp ? (framework ? 0.9 : 0.75) : 0.3;
  return candidate('dotnet', project.path, score, draft, isApp ? 'app' : 'library');
}

/** Frameworks and systems that are more than ASP.NET with a package. */
const byPackage: Readonly<Record<string, string>> = {
  giraffe: 'giraffe',
  saturn: 'saturn',
  falco: 'falco',
  suave: 'suave',
  'umbraco.cms': 'umbraco',
  'orchardcore.application.cms.targets': 'orchard',
};

function frameworkOf(
  project: Project,
  { sdk, packages }: NetProject,
  sources: readonly string[],
): string | undefined {
  if (sdk.endsWith('BlazorWebAssembly')) return 'blazor';
  const named = [...packages].find((each) => Object.hasOwn(byPackage, each));
  if (named !== undefined) return byPackage[named];
  const isWeb =
    sdk.endsWith('Sdk.Web') ||
    packages.has('microsoft.aspnetcore.app') ||
    packages.has('microsoft.aspnetcore');
  if (!isWeb) return undefined;
  const pages = project.first('Components/App.razor', 'App.razor', 'Pages/_Host.cshtml');
  const uses = /\bAddRazorComponents\(|\bAddServerSideBlazor\(|\bMapBlazorHub\(/;
  return pages && project.repository.find(sources, uses) ? 'blazor' : 'aspnet';
}

function portOf(
  repository: Repository,
  { sdk, packages, file }: NetProject,
  settings: readonly string[],
  sources: readonly string[],
): Evidenced<number | null> {
  const isWeb =
    sdk.endsWith('Sdk.Web') ||
    [...packages].some((name) => /aspnetcore|giraffe|saturn|falco|suave/.test(name));
  if (!isWeb) {
    const listens = repository.find(sources, /\bHttpListener\b|\bTcpListener\b|WebApplication\./);
    return (listens && portInCode(repository, sources)) ?? evidenced(null, guessed, file, 'no web project');
  }
  const set = repository.find(settings, /"(?:urls|url)"\s*:\s*"http:\/\/[^"]{0,60}:(\d{2,5})/i);
  if (set) return evidencedBy(set, Number(set.match[1]));
  return portInCode(repository, sources) ?? evidenced(8080, conventional, file, 'convention of its images');
}
