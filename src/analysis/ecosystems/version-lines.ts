/**
 * From what a repository allows (`>=3.11`, `^8.2`, `~> 3.3`) to the one line that is taken. Where the usual line is
 * allowed it is taken, else the newest that is. Lines are of images that exist; an exact version stays as it is.
 */
import semver from 'semver';
import type { Evidenced } from '../evidence.ts';

/** Newest first. The starred one is what is taken where nothing speaks against it. */
const lines: Readonly<Record<string, string>> = {
  python: '3.14 3.13* 3.12 3.11 3.10 3.9 3.8 3.7 2.7',
  php: '8.5 8.4* 8.3 8.2 8.1 8.0 7.4 7.3 7.2',
  ruby: '3.4* 3.3 3.2 3.1 3.0 2.7 2.6',
  java: '25 21* 17 11 8',
  elixir: '1.19 1.18* 1.17 1.16 1.15 1.14 1.13 1.12',
  go: '1.25* 1.24 1.23 1.22 1.21 1.20 1.19 1.18',
  dart: '3.9* 3.8 3.7 3.6 3.5 3.4 3.3 3.2 3.1 3.0 2.19 2.18',
  crystal: '1.17* 1.16 1.15 1.14 1.13 1.12',
};

export function versionLine(
  language: string,
  range: Evidenced<string> | undefined,
): Evidenced<string> | undefined {
  if (!range) return undefined;
  const value = lineFor(language, range.value);
  return value === undefined ? undefined : { ...range, value };
}

export function lineFor(language: string, range: string): string | undefined {
  const text = range.trim().slice(0, 100);
  if (/^v?\d+(?:\.\d+){0,3}$/.test(text)) return text.replace(/^v/, '');
  const wanted = semver.validRange(toSemver(text), { loose: true });
  if (wanted === null) return /\d+(?:\.\d+){0,2}/.exec(text)?.[0];
  const all = (Object.hasOwn(lines, language) ? (lines[language] ?? '') : '').split(' ');
  const usual = all.find((line) => line.endsWith('*'));
  const allowed = (line: string) => {
    // The highest patch of the line: `>=3.11.4` allows 3.11.
    const [major = '0', minor] = line.replace('*', '').split('.');
    return semver.satisfies(`${major}.${minor ?? 999}.999`, wanted);
  };
  const found = usual !== undefined && allowed(usual) ? usual : all.find(allowed);
  return found?.replace('*', '') ?? (semver.minVersion(wanted)?.version.replace(/\.0$/, '') || undefined);
}

/** Ranges of Python, Ruby, Composer and Hex as semver writes them. */
function toSemver(range: string): string {
  return range
    .split(/\|\|?/)
    .map((part) =>
      part
        .trim()
        .replace(/@\w{1,40}$/, '')
        .split(/,|\sand\s/)
        .map((each) => clause(each.trim()))
        .join(' '),
    )
    .join(' || ');
}

function clause(text: string): string {
  const compatible = /^~[=>]\s*(\d+)\.(\d+)(\.\d+)?/.exec(text);
  // `~= 3.11` and `~> 3.3` let the last number rise: 3.x; with three numbers only the patch.
  if (compatible) {
    const [, major, minor, patch] = compatible;
    return patch ? `~${major}.${minor}${patch}` : `>=${major}.${minor} <${Number(major) + 1}`;
  }
  return text
    .replace(/^={2,3}/, '=')
    .replace(/^!=.*/, '')
    .replace(/([<>=~^])\s+/g, '$1');
}

/**
 * What somebody pins for those who work on it, unless it is less than what the project asks for at least: then the pin
 * is old, or lets the tool move up by itself.
 */
export function pinOrLeast(
  pin: Evidenced<string> | undefined,
  least: Evidenced<string> | undefined,
): Evidenced<string> | undefined {
  if (!pin || !least) return pin ?? least;
  const [pinned, asked] = [semver.coerce(pin.value), semver.coerce(least.value)];
  return pinned && asked && semver.lt(pinned, asked) && !isLine(pinned, asked, pin.value) ? least : pin;
}

/** `1.24` is the newest of its line, so it is enough for `1.24.3`. */
function isLine(pinned: semver.SemVer, asked: semver.SemVer, text: string): boolean {
  const parts = text.split('.').length;
  return pinned.major === asked.major && (parts === 1 || (parts === 2 && pinned.minor === asked.minor));
}
