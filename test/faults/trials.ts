/** What a round tries, chosen by its seed: a deployment of some course, and a fault at one of its journal's writes. */
import type { Random } from '../support/random.ts';
import type { Point } from './orders.ts';

export type Course =
  | { readonly kind: 'deploy' | 'redeploy' | 'rollback' | 'broken build' | 'crashing' | 'memory' }
  /** Asked for when that step has begun. */
  | { readonly kind: 'cancel'; readonly at: string };

export type Trouble =
  | { readonly kind: 'kill'; readonly points: readonly Point[] }
  /** Beyond its lease; another deployment may come and go before it wakes. */
  | { readonly kind: 'stall'; readonly at: Point; readonly goesOn: boolean }
  | {
      readonly kind: 'cut' | 'postgres';
      readonly at: Point;
      readonly afterMs: number;
      readonly forMs: number;
    }
  | { readonly kind: 'dockerd' | 'proxy' | 'reboot'; readonly at: Point; readonly afterMs: number }
  | { readonly kind: 'disk'; readonly at: Point; readonly folder: 'builds' | 'units' }
  | { readonly kind: 'none' };

export interface Trial {
  readonly course: Course;
  readonly trouble: Trouble;
}

/** Those that have something to do for the sample: it has no services, no release command and no workers. */
export const steps: readonly string[] = [
  ...['fetch', 'plan', 'send', 'build', 'create-release', 'start', 'health'],
  ...['prove', 'switch', 'promote', 'retire', 'clean-up'],
];

/** Those with an undo. */
const undone = ['send', 'build', 'start', 'prove', 'switch', 'promote'];

/** Rows alone: their beginning and their end are one write, with what follows. */
const rowsSteps = ['create-release', 'promote'];

export const isOfRows = (entry: string) =>
  rowsSteps.some((name) => entry === `${name} running` || entry === `${name} done`);

/** Those that no cancel can meet. */
const unbroken = [...rowsSteps, 'retire', 'clean-up'];

const upTo = (last: string) => steps.slice(0, steps.indexOf(last) + 1);

/** Every write of the journal that such a course comes by, in their order. */
export function entriesOf(course: Course): string[] {
  const forwards = (names: readonly string[]) => names.flatMap((name) => [`${name} running`, `${name} done`]);
  const backwards = (last: string) =>
    upTo(last)
      .filter((name) => undone.includes(name))
      .reverse()
      .flatMap((name) => [`${name} undoing`, `${name} undone`]);
  const failing = (last: string) => [
    ...['begun', ...forwards(upTo(last)).slice(0, -1), `${last} failed`, 'turn failed'],
    ...[...backwards(last), 'failed'],
  ];
  if (course.kind === 'cancel') {
    const begun = ['begun', ...forwards(upTo(course.at)).slice(0, -1)];
    return [...begun, 'turn cancelled', ...backwards(course.at), 'cancelled'];
  }
  if (course.kind === 'broken build' || course.kind === 'memory') return failing('build');
  if (course.kind === 'crashing') return failing('health');
  // What is there already is not built again.
  const isBuilt = course.kind === 'deploy';
  const done = steps.filter((name) => isBuilt || (name !== 'send' && name !== 'build'));
  return ['begun', ...forwards(done), 'succeeded'];
}

export function chooseTrial(random: Random, isLong: boolean): Trial {
  const kind = random.pick<Trouble['kind']>(
    ...(['kill', 'kill', 'kill', 'kill', 'kill', 'kill', 'stall', 'stall', 'cut', 'cut'] as const),
    ...(['dockerd', 'dockerd', 'postgres', 'postgres', 'disk', 'none', 'proxy', 'reboot'] as const),
  );
  const course = chooseCourse(random, kind);
  // Where the cancel is asked for, the worker waits for it already.
  const entries = entriesOf(course).filter(
    (each) => course.kind !== 'cancel' || each !== `${course.at} running`,
  );
  const point = (from: readonly string[] = entries): Point => ({
    moment: random.pick('before', 'after'),
    entry: from[random.between(0, from.length - 1)] ?? 'begun',
  });
  return { course, trouble: chooseTrouble(random, kind, point, entries, isLong) };
}

function chooseCourse(random: Random, trouble: Trouble['kind']): Course {
  // What breaks on the server itself is tried with what is built there.
  if (trouble === 'disk') return { kind: 'deploy' };
  if (trouble === 'none') return { kind: random.pick('memory', 'broken build', 'crashing') };
  const kind = random.pick(
    ...(['deploy', 'deploy', 'deploy', 'redeploy', 'rollback', 'cancel', 'cancel'] as const),
    ...(['broken build', 'crashing'] as const),
  );
  if (kind !== 'cancel') return { kind };
  const [first = 'fetch', ...others] = steps.filter((name) => !unbroken.includes(name));
  return { kind, at: random.pick(first, ...others) };
}

function chooseTrouble(
  random: Random,
  kind: Trouble['kind'],
  point: (from?: readonly string[]) => Point,
  entries: readonly string[],
  isLong: boolean,
): Trouble {
  const running = entries.filter((each) => each.endsWith(' running'));
  if (kind === 'none') return { kind };
  if (kind === 'kill') {
    const first = point();
    // The second one meets whoever took over.
    const later = entries.slice(entries.indexOf(first.entry) + 1).filter((each) => !isOfRows(each));
    return { kind, points: random.chance(0.3) && later.length > 0 ? [first, point(later)] : [first] };
  }
  // Not at the very end: there is nothing left that it could do too late.
  if (kind === 'stall') return { kind, at: point(entries.slice(0, -1)), goesOn: random.chance(0.5) };
  const at: Point = { ...point(running.length > 0 ? running : entries), moment: 'after' };
  const afterMs = random.between(0, 800);
  if (kind === 'disk') {
    const folder = random.pick('builds', 'units');
    return {
      kind,
      folder,
      at: { moment: 'after', entry: folder === 'builds' ? 'plan running' : 'send running' },
    };
  }
  if (kind === 'cut') {
    const inBuild = { moment: 'after', entry: 'build running' } as const;
    if (isLong && entries.includes(inBuild.entry) && random.chance(0.5))
      return { kind, afterMs, at: inBuild, forMs: 300_000 };
    return { kind, at, afterMs, forMs: 10_000 };
  }
  if (kind === 'postgres')
    return { kind, at, afterMs, forMs: isLong ? 60_000 : random.pick(2_000, 10_000, 60_000) };
  return { kind, at, afterMs };
}

export function toldTrial({ course, trouble }: Trial): string {
  const said = course.kind === 'cancel' ? `cancel at ${course.at}` : course.kind;
  const place = ({ moment, entry }: Point) => `${moment} «${entry}»`;
  if (trouble.kind === 'none') return said;
  if (trouble.kind === 'kill') return `${said}, killed ${trouble.points.map(place).join(' and ')}`;
  const how = [
    ...('afterMs' in trouble ? [`${trouble.afterMs} ms`] : []),
    place(trouble.at),
    ...('forMs' in trouble ? [`for ${trouble.forMs} ms`] : []),
    ...(trouble.kind === 'disk' ? [trouble.folder] : []),
    ...(trouble.kind === 'stall' && trouble.goesOn ? ['with another deployment meanwhile'] : []),
  ];
  return `${said}, ${trouble.kind} ${how.join(' ')}`;
}
