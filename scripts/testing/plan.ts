/**
 * Which tests are run, and how they are laid out. A unit is what one process runs: a file, or many small ones that
 * stand beside their code. Each unit has a lane: some burn processor time, others mostly wait for servers of the lab,
 * and both are done sooner side by side. The longest come first.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../commands.ts';

export type Lane = 'processor' | 'servers';

export interface Unit {
  readonly name: string;
  readonly lane: Lane;
  readonly files: readonly string[];
  /** As measured at some time on some machine: good enough to begin with the longest. */
  readonly seconds: number;
}

const shortPatterns = [
  'src/**/*.test.ts',
  'test/!(long)/**/*.test.ts',
  'test/*.test.ts',
  'lab/!(apps)/**/*.test.ts',
];
const longPatterns = ['test/long/*.test.ts'];
const durationsFile = join(root, 'test/durations.json');
/** What is new begins early: nobody knows yet how long it takes. */
const unknownSeconds = 60;
const sharedProcesses = 3;

export function allFiles(isLong: boolean): string[] {
  return globSync(isLong ? longPatterns : shortPatterns, { cwd: root }).sort();
}

export function needsLab(file: string): boolean {
  return /(^|\/)test\/(lab|long|story)\//.test(file);
}

/** Small, and with no process of its own: such files would spend most of their time on starting. */
function isBesideItsCode(file: string): boolean {
  return /^(src|lab)\//.test(file);
}

export function planUnits(files: readonly string[]): Unit[] {
  const durations = readDurations();
  const secondsOf = (file: string) => durations[file] ?? unknownSeconds;
  const quick = files.filter(isBesideItsCode).sort((one, other) => secondsOf(other) - secondsOf(one));
  const shared = Array.from({ length: Math.min(sharedProcesses, quick.length) }, (_, index): Unit => {
    const own = quick.filter((_file, at) => at % sharedProcesses === index);
    const name = own.length === 1 ? (own[0] ?? '') : `${own.length} files beside their code`;
    return {
      name,
      lane: 'processor',
      files: own,
      seconds: own.reduce((sum, file) => sum + secondsOf(file), 0),
    };
  });
  const alone = files
    .filter((file) => !quick.includes(file))
    .map((file): Unit => {
      const lane = needsLab(file) ? 'servers' : 'processor';
      return { name: file, lane, files: [file], seconds: secondsOf(file) };
    });
  return [...shared, ...alone].sort((one, other) => other.seconds - one.seconds);
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
