/** What a .csproj and its kin say, with what Directory.Build.props above gives to all. */

import { certain, type Evidenced, evidenced } from '../../evidence.ts';
import { parseXml, xmlList } from '../../readers/xml.ts';
import { isParsed, nameOf, type Parsed, parentOf, type Repository } from '../../repository.ts';

export interface NetProject {
  readonly file: string;
  readonly ending: string;
  readonly name: string;
  readonly language: string;
  readonly sdk: string;
  readonly assembly: string;
  readonly outputType: string;
  readonly version: Evidenced<string> | undefined;
  /** In small letters. */
  readonly packages: ReadonlySet<string>;
  readonly isTest: boolean;
  /** No other project or solution lies in the same folder, so that it need not be named. */
  readonly isAlone: boolean;
}

export const projectEndings: readonly string[] = ['.csproj', '.fsproj', '.vbproj'];
const languages: Readonly<Record<string, string>> = {
  '.csproj': 'csharp',
  '.fsproj': 'fsharp',
  '.vbproj': 'vb',
};

export function readNetProject(repository: Repository, file: string): NetProject | undefined {
  const project = projectIn(repository, file);
  if (!project) return undefined;
  const ending = file.slice(file.lastIndexOf('.'));
  const name = nameOf(file).slice(0, -ending.length);
  const packages = new Set<string>();
  for (const group of xmlList(project.ItemGroup).filter(isParsed)) {
    for (const each of [...xmlList(group.PackageReference), ...xmlList(group.FrameworkReference)]) {
      if (isParsed(each) && typeof each.Include === 'string') packages.add(each.Include.toLowerCase());
    }
  }
  const directory = parentOf(file) ?? '';
  const property = (key: string) => propertyOf(project, key) ?? fromAbove(repository, directory, key);
  const target = property('TargetFramework') ?? property('TargetFrameworks')?.split(';').at(-1);
  const siblings = [...(repository.directory(directory)?.files ?? [])];
  return {
    file,
    ending,
    name,
    language: languages[ending] ?? 'csharp',
    sdk: sdkOf(project),
    assembly: property('AssemblyName')?.replace('$(MSBuildProjectName)', name) ?? name,
    outputType: property('OutputType') ?? '',
    version: versionOf(target, file),
    packages,
    isTest:
      property('IsTestProject') === 'true' || packages.has('microsoft.net.test.sdk') || packages.has('xunit'),
    isAlone: siblings.filter((each) => /\.(?:csproj|fsproj|vbproj|sln|slnx)$/.test(each)).length < 2,
  };
}

/** Runs by itself, or in a browser. */
export function isRunnable({ sdk, outputType, isTest }: NetProject): boolean {
  return !isTest && (/Sdk\.(?:Web|Worker|BlazorWebAssembly)$/.test(sdk) || /^(?:win)?exe$/i.test(outputType));
}

function projectIn(repository: Repository, file: string): Parsed | undefined {
  const document = repository.parsed(file, 'xml', parseXml);
  return isParsed(document) && isParsed(document.Project) ? document.Project : undefined;
}

function sdkOf(project: Parsed): string {
  if (typeof project.Sdk === 'string') return project.Sdk.split('/')[0] ?? '';
  const [inner] = xmlList(project.Sdk);
  return isParsed(inner) && typeof inner.Name === 'string' ? inner.Name : '';
}

function propertyOf(project: Parsed, key: string): string | undefined {
  for (const group of xmlList(project.PropertyGroup).filter(isParsed)) {
    const [value] = xmlList(group[key]);
    const text = isParsed(value) ? value['#text'] : value;
    if (typeof text === 'string' && text.trim() !== '') return text.trim().slice(0, 200);
  }
  return undefined;
}

function fromAbove(repository: Repository, directory: string, key: string): string | undefined {
  const file = repository.upwards(directory, ['Directory.Build.props']);
  const project = file === undefined ? undefined : projectIn(repository, file);
  return project && propertyOf(project, key);
}

/** `net8.0` and `net8.0-windows` are 8.0. */
function versionOf(target: string | undefined, file: string): Evidenced<string> | undefined {
  const version = target === undefined ? undefined : /^net(?:coreapp)?(\d{1,2}\.\d)/.exec(target)?.[1];
  return version === undefined
    ? undefined
    : evidenced(version, certain, file, `TargetFramework ${target?.slice(0, 40)}`);
}
