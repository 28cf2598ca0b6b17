/**
 * Which tests are run, and how they are laid out. A unit is what one process runs: a file, or many that stand
 * beside their code or ask an instance of the service that they can share. Each unit has a lane: some burn processor time, others mostly wait for servers of the lab,
 * and both are done sooner side by side. The longest come first.
 */
import { hash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { root } from '../commands.ts';

export type Lane = 'processor' | 'servers';

export interface Unit {
  readonly name: string;
  readonly lane: Lane;
  readonly files: readonly string[];
  /** As measured at some time on some machine: good enough to begin with the longest. */
  readonly seconds: number;
}

const shortPatterns = ['{src,web}/**/*.test.ts', 'test/!(long)/**/*.test.ts', 'test/*.test.ts'];
/** With what proves the lab itself: the tests that use it would fail where it is wrong, only later and less clearly. */
const longPatterns = ['test/long/*.test.ts', 'lab/!(apps)/**/*.test.ts'];
const durationsFile = join(root, 'test/durations.json');
/** What is new begins early: nobody knows yet how long it takes. */
const unknownSeconds = 60;
/** What takes longer than this has a process of its own, in which loading the service is a small part. */
const secondsAlone = 25;
/** About how long a process runs that is shared by files which would spend much of their time on starting. */
const secondsTogether = 120;

export function allFiles(isLong: boolean): string[] {
  return globSync(isLong ? longPatterns : shortPatterns, { cwd: root }).sort();
}

export function needsLab(file: string): boolean {
  return /(^|\/)test\/(lab|long|story)\//.test(file);
}

/** They look at the dashboard with a real browser. */
export function needsBrowser(file: string): boolean {
  return /(^|\/)test\/(browser\/|long\/dashboard)/.test(file);
}

export function planUnits(files: readonly string[]): Unit[] {
  const durations = readDurations();
  const secondsOf = (file: string) => durations[file] ?? unknownSeconds;
  const alone = (file: string): Unit => {
    const lane = needsLab(file) ? 'servers' : 'processor';
    return { name: file, lane, files: [file], seconds: secondsOf(file) };
  };
  const together = (what: string, some: readonly string[]): Unit[] => {
    const longestFirst = some.toSorted((one, other) => secondsOf(other) - secondsOf(one));
    // Some take no time at all: they are run nevertheless.
    const seconds = some.reduce((sum, file) => sum + secondsOf(file), 0);
    const count = Math.max(1, Math.ceil(seconds / secondsTogether));
    const lots = Array.from({ length: count }, (_, index) =>
      longestFirst.filter((_file, at) => at % count === index),
    );
    return lots.flatMap((lot): Unit[] => {
      const seconds = lot.reduce((sum, file) => sum + secondsOf(file), 0);
      if (lot.length < 2) return lot.map(alone);
      return [{ name: `${lot.length} files ${what}`, lane: 'processor', files: lot, seconds }];
    });
  };
  const isBesideCode = (file: string) => /^(src|web|lab)\//.test(file);
  const isOfApi = (file: string) => !isBesideCode(file) && sharesInstance(file);
  const isShort = (file: string) => !needsLab(file) && !needsBrowser(file) && secondsOf(file) < secondsAlone;
  const others = files.filter((file) => !isBesideCode(file) && !isOfApi(file));
  const units = [
    ...together('beside their code', files.filter(isBesideCode)),
    ...together('that share an instance', files.filter(isOfApi)),
    ...together('that are short', others.filter(isShort)),
    ...others.filter((file) => !isShort(file)).map(alone),
  ];
  return units.sort((one, other) => other.seconds - one.seconds);
}

/** In an order that is the same for the same seed. */
export function shuffled(units: readonly Unit[], seed: string): Unit[] {
  const place = ({ name }: Unit) => hash('sha256', `${seed}${name}`);
  return units.toSorted((one, other) => (place(one) < place(other) ? -1 : 1));
}

/** Of the API, and without a process of its own. */
function sharesInstance(file: string): boolean {
  if (needsLab(file) || needsBrowser(file)) return false;
  const all = importsOf(file, new Set());
  return all.has('test/support/shared-app.ts') && !all.has('test/support/service.ts');
}

function importsOf(file: string, seen: Set<string>): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(resolve(root, file), 'utf8');
  for (const [, path = ''] of text.matchAll(/^(?:import|export)\b[^;]*?from '(\.[^']+\.ts)'/gm))
    importsOf(join(dirname(file), path), seen);
  return seen;
}

export function writeDurations(measured: ReadonlyMap<string, number>): void {
  const known = new Set([...allFiles(false), ...allFiles(true)]);
  const all = { ...readDurations(), ...Object.fromEntries(measured) };
  const rounded = Object.entries(all)
    .filter(([file]) => known.has(file))
    .map(([file, seconds]) => [file, Number(seconds.toFixed(1))] as const);
  const sorted = Object.fromEntries(rounded.sort(([one], [other]) => (one < other ? -1 : 1)));
  writeFileSync(durationsFile, `${JSON.stringify(sorted, null, 2)}\n`);
}

function readDurations(): Record<string, number> {
  return JSON.parse(readFileSync(durationsFile, 'utf8'));
}
