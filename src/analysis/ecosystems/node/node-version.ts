/** Which Node a package asks for, as a line or version that exists. */
import semver from 'semver';
import { certain, type Evidenced, evidenced } from '../../evidence.ts';
import { isParsed, join, type Repository } from '../../repository.ts';
import { toolVersion } from '../tool-versions.ts';
import { packageIn, textOf } from './package-json.ts';
import { workspaceRootOf } from './workspaces.ts';

/** Lines with long support, newest first; where a range allows several, the first is taken. */
const lines = [24, 22, 20, 18, 16, 14, 12, 10];
const otherLines = [25, 23, 21, 19, 17, 15, 13];
const codenames: Readonly<Record<string, string>> = {
  krypton: '24',
  jod: '22',
  iron: '20',
  hydrogen: '18',
  gallium: '16',
  fermium: '14',
  erbium: '12',
  dubnium: '10',
};

export function nodeVersionOf(repository: Repository, directory: string): Evidenced<string> | undefined {
  const root = workspaceRootOf(repository, directory);
  const folders = root === undefined || root === directory ? [directory] : [directory, root];
  const ranges = folders.map((folder) => fromManifest(repository, folder)).find((each) => each !== undefined);
  const file = fromFile(repository, directory);
  if (!ranges) return file;
  // An open range leaves the choice to a file that names one version within it.
  const isOpen = !isOneLine(ranges.value);
  if (isOpen && file && satisfies(file.value, ranges.value)) return file;
  const line = lineOf(ranges.value);
  return line === undefined ? file : { ...ranges, value: line };
}

function fromManifest(repository: Repository, folder: string): Evidenced<string> | undefined {
  const manifest = packageIn(repository, folder);
  if (!manifest) return undefined;
  const volta = isParsed(manifest.raw.volta) ? textOf(manifest.raw.volta.node) : undefined;
  const engines = manifest.engines.get('node');
  const range = engines === undefined || engines === '*' ? volta : engines;
  if (range !== undefined)
    return evidenced(
      range.slice(0, 100),
      certain,
      manifest.file,
      range === engines ? `engines.node ${range}` : `volta.node ${range}`,
    );
  const dev = isParsed(manifest.raw.devEngines) ? manifest.raw.devEngines.runtime : undefined;
  const first: unknown = Array.isArray(dev) ? dev[0] : dev;
  const version = isParsed(first) && first.name === 'node' ? textOf(first.version) : undefined;
  return version === undefined
    ? undefined
    : evidenced(version, certain, manifest.file, `devEngines.runtime ${version}`);
}

function fromFile(repository: Repository, directory: string): Evidenced<string> | undefined {
  const named = codename(repository, directory);
  if (named) return named;
  const found = toolVersion(repository, directory, 'node');
  const line = found ? lineOf(found.value) : undefined;
  return found && line !== undefined ? { ...found, value: line } : undefined;
}

/** `lts/iron`, `lts/*`, `node`. */
function codename(repository: Repository, directory: string): Evidenced<string> | undefined {
  const file = repository.upwards(directory, ['.nvmrc', '.node-version']);
  const text = file === undefined ? '' : (repository.text(file) ?? '').slice(0, 200).trim().toLowerCase();
  const name = /^(?:lts[/-])?([a-z]+|\*)$/.exec(text)?.[1];
  if (file === undefined || name === undefined) return undefined;
  const version = Object.hasOwn(codenames, name) ? codenames[name] : String(lines[0]);
  return evidenced(version ?? String(lines[0]), certain, file, text);
}

export function lineOf(range: string): string | undefined {
  const text = range.trim().replace(/^v(?=\d)/, '');
  if (/^\d+(?:\.\d+){0,2}$/.test(text)) return text;
  if (/^lts|^(?:latest|current|node|stable)$/.test(text))
    return codenames[text.split(/[/-]/)[1] ?? ''] ?? String(lines[0]);
  const valid = semver.validRange(text, { loose: true });
  if (valid === null) return /(\d+)/.exec(text)?.[1];
  const allowed = (line: number) => semver.satisfies(`${line}.999.999`, valid);
  const found = lines.find(allowed) ?? otherLines.find(allowed);
  if (found !== undefined) return String(found);
  const least = semver.minVersion(valid);
  return least ? String(least.major) : undefined;
}

function isOneLine(range: string): boolean {
  const valid = semver.validRange(range, { loose: true });
  if (valid === null) return true;
  return (
    [...lines, ...otherLines].filter((line) => semver.intersects(valid, `>=${line}.0.0 <${line + 1}.0.0`))
      .length <= 1
  );
}

function satisfies(version: string, range: string): boolean {
  const whole = semver.coerce(version);
  if (!whole) return false;
  const highest = version.split('.').length === 3 ? whole : `${whole.major}.999.999`;
  return semver.satisfies(highest, range, { loose: true });
}

/** Bun or Deno, where one of them runs the app. */
export function runtimeVersion(
  repository: Repository,
  directory: string,
  name: 'bun' | 'deno',
): Evidenced<string> | undefined {
  const found = toolVersion(repository, directory, name);
  if (found) return found;
  const manifest = packageIn(repository, directory);
  const range = manifest?.engines.get(name);
  const version = /(\d+(?:\.\d+){0,2})/.exec(range ?? '')?.[1];
  return manifest && version
    ? evidenced(version, certain, join(directory, 'package.json'), `engines.${name} ${range}`)
    : undefined;
}
