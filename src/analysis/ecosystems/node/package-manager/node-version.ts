/** Which Node a package asks for, as a line or version that exists. */
import semver from 'semver';
import { certain, type Evidenced, evidenced } from '../../../evidence.ts';
import type { Project } from '../../../project.ts';
import { asMany, valueAt } from '../../../readers/shape.ts';
import type { Repository } from '../../../repository.ts';
import { toolVersion } from '../../tool-versions.ts';
import { manifestText, packageIn } from './package-json.ts';
import { workspaceFolders } from './workspaces.ts';

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

export function nodeVersionOf(project: Project): Evidenced<string> | undefined {
  const { repository, path } = project;
  const range = workspaceFolders(repository, path)
    .map((folder) => fromManifest(repository, folder))
    .find((each) => each !== undefined);
  const file = fromFile(project);
  if (!range) return file;
  // An open range leaves the choice to a file that names one version within it.
  if (file && !isOneLine(range.value) && satisfies(file.value, range.value)) return file;
  const line = lineOf(range.value);
  return line === undefined ? file : { ...range, value: line };
}

function fromManifest(repository: Repository, folder: string): Evidenced<string> | undefined {
  const manifest = packageIn(repository, folder);
  if (!manifest) return undefined;
  const { file, raw, engines } = manifest;
  const asked = engines.get('node');
  if (asked !== undefined && asked !== '*')
    return evidenced(asked.slice(0, 100), certain, file, `engines.node ${asked}`);
  const volta = manifestText(valueAt(raw, 'volta', 'node'));
  if (volta !== undefined) return evidenced(volta.slice(0, 100), certain, file, `volta.node ${volta}`);
  const [runtime] = asMany(valueAt(raw, 'devEngines', 'runtime'));
  const version = valueAt(runtime, 'name') === 'node' ? manifestText(valueAt(runtime, 'version')) : undefined;
  return version === undefined
    ? undefined
    : evidenced(version, certain, file, `devEngines.runtime ${version}`);
}

function fromFile(project: Project): Evidenced<string> | undefined {
  const named = codename(project);
  if (named) return named;
  const found = toolVersion(project, 'node');
  const line = found ? lineOf(found.value) : undefined;
  return found && line !== undefined ? { ...found, value: line } : undefined;
}

/** `lts/iron`, `lts/*`, `node`. */
function codename(project: Project): Evidenced<string> | undefined {
  const { repository } = project;
  const file = project.upwards('.nvmrc', '.node-version');
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
export function runtimeVersion(project: Project, name: 'bun' | 'deno'): Evidenced<string> | undefined {
  const range = packageIn(project.repository, project.path)?.engines.get(name);
  const version = /(\d+(?:\.\d+){0,2})/.exec(range ?? '')?.[1];
  const asked =
    version && evidenced(version, certain, project.at('package.json'), `engines.${name} ${range}`);
  return toolVersion(project, name) ?? (asked || undefined);
}
