/** A package.json as far as its values have the shape they should; whatever has another is not there. */
import { isParsed, type Parsed, type Repository } from '../../../repository.ts';

export interface PackageJson {
  readonly file: string;
  readonly raw: Parsed;
  readonly name: string | undefined;
  readonly scripts: ReadonlyMap<string, string>;
  readonly dependencies: ReadonlyMap<string, string>;
  readonly devDependencies: ReadonlyMap<string, string>;
  readonly engines: ReadonlyMap<string, string>;
  readonly main: string | undefined;
}

/** The second is read by pnpm alone. */
export const manifestNames = ['package.json', 'package.json5'];

const longest = 4_000;

export function packageIn(repository: Repository, directory: string): PackageJson | undefined {
  const known = repository.derived(packagesRead);
  const before = known.get(directory);
  if (before) return before;
  const file = repository.firstOf(directory, manifestNames);
  const made = file === undefined ? undefined : readPackage(repository, file);
  if (made) known.set(directory, made);
  return made;
}

function packagesRead(): Map<string, PackageJson> {
  return new Map();
}

function readPackage(repository: Repository, file: string): PackageJson | undefined {
  const config = file.endsWith('5') ? repository.source(file)?.config : repository.json(file);
  const raw = isParsed(config) ? config : undefined;
  if (!raw) return undefined;
  return {
    file,
    raw,
    name: manifestText(raw.name),
    scripts: textsOf(raw.scripts),
    dependencies: new Map([...textsOf(raw.optionalDependencies), ...textsOf(raw.dependencies)]),
    devDependencies: new Map([...textsOf(raw.peerDependencies), ...textsOf(raw.devDependencies)]),
    engines: textsOf(raw.engines),
    // `bun init` names the file to start with so. Of a package that is published it is for whoever imports it.
    main: manifestText(raw.main) ?? (raw.private === true ? manifestText(raw.module) : undefined),
  };
}

/** At run time or for building. */
export function dependsOn({ dependencies, devDependencies }: PackageJson, name: string): boolean {
  return dependencies.has(name) || devDependencies.has(name);
}

export function manifestText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > longest) return undefined;
  return value.trim() === '' ? undefined : value.trim();
}

function textsOf(value: unknown): ReadonlyMap<string, string> {
  if (!isParsed(value)) return new Map();
  const texts = Object.entries(value).flatMap(([key, each]): [string, string][] => {
    const text = manifestText(each) ?? (typeof each === 'number' ? String(each) : undefined);
    return text === undefined ? [] : [[key, text]];
  });
  return new Map(texts);
}
