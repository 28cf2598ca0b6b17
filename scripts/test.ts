/**
 * `npm test`: the checks beside every test. One PostgreSQL of its own serves the whole run; each test file makes its
 * own databases on it, so that files neither see nor wait for each other. Tests in `test/lab` and `test/story` share
 * one lab of real servers, where the machine can run it; those in `test/browser` need a chromium. A file that fails
 * beside others is run once more, alone; one that passes then is unsteady, which is a defect of its own, and two of
 * them fail the run.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../lab/command.ts';
import { type BoundLab, launchBound } from '../lab/launch.ts';
import { installBrowser, whyNoBrowser, whyNot } from '../lab/needs.ts';
import { Progress } from '../lab/progress.ts';
import { startTestPostgres } from '../test/support/postgres.ts';
import { readArguments } from './arguments.ts';
import { checks, root, runAll } from './commands.ts';
import { runInLanes } from './testing/lanes.ts';
import {
  allFiles,
  type Lane,
  needsBrowser,
  needsLab,
  planUnits,
  shuffled,
  type Unit,
  writeDurations,
} from './testing/plan.ts';
import { type Outcome, runUnit } from './testing/run-unit.ts';
import { ShownRun } from './testing/show-run.ts';

const usage = `Usage: npm test                      the checks and every test but the long ones
       npm test -- <file> …          these files alone, with everything they print
       npm run test:long             the tests in test/long, and those of the lab itself
       npm run test:long -- --minutes <n>
                                     as many of them as begin within this time, others with each commit
       npm test -- --durations       keeps in test/durations.json how long each file took`;
const { values, positionals } = readArguments(
  {
    options: {
      long: { type: 'boolean', default: false },
      durations: { type: 'boolean', default: false },
      minutes: { type: 'string' },
    },
    allowPositionals: true,
  },
  usage,
);
/** Where more than these fail, something is wrong, and not only slow. */
const mostAgain = 4;
const mostUnsteady = 1;
const slowestShown = 10;
const isNamed = positionals.length > 0;
/** The long ones take a whole processor each: four at once were done no sooner, and each was too slow for its own limits. */
const atOnce = isNamed || values.long ? 1 : 2;
const width: Readonly<Record<Lane, number>> = { processor: atOnce, servers: atOnce };
const minutes = Number(values.minutes ?? Number.POSITIVE_INFINITY);
if (!(minutes > 0)) {
  process.stderr.write(`--minutes takes a number above 0, not ${values.minutes}.\n\n${usage}\n`);
  process.exit(2);
}
const absent = positionals.filter((file) => !existsSync(file));
if (absent.length > 0) {
  process.stderr.write(`There is no test file ${absent.join(', ')}.\n\n${usage}\n`);
  process.exit(2);
}
const wanted = isNamed ? positionals : allFiles(values.long);
/** Each needs something that not every machine has. */
const tiers = [
  { name: 'the lab', needs: needsLab, why: whyNot },
  { name: 'a browser', needs: needsBrowser, why: whyNoBrowser },
].map((tier) => ({ ...tier, reason: wanted.some(tier.needs) ? tier.why() : undefined }));
const files = wanted.filter((file) => !tiers.some(({ needs, reason }) => reason && needs(file)));
const leftOut = tiers
  .filter(({ reason }) => reason)
  .map(
    ({ name, needs, reason }) =>
      `Left out: the ${wanted.filter(needs).length} test files that need ${name}, because ${reason}.`,
  )
  .join('\n');
if (leftOut) {
  process.stderr.write(`${leftOut}\n`);
  if (process.env.SLIPWAY_LAB === 'require') {
    process.stderr.write('SLIPWAY_LAB=require makes that a failure.\n');
    process.exit(1);
  }
  if (files.length === 0) process.exit(0);
}
if (files.some(needsBrowser)) await installBrowser();

const began = performance.now();
const notBegun: string[] = [];
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort());
// They use both processors while the servers of the lab start. What they find ends the run.
const checked = isNamed || values.long ? Promise.resolve(true) : runAll(...checks);
void checked.then((isGood) => isGood || stopping.abort());
// Loading the service costs every file a second of processor time without it.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/slipway-test');
// As the service is started: processes that hold less memory start others quicker.
process.loadEnvFile(join(root, 'scripts/memory.env'));
const postgres = await startTestPostgres();
const lab = files.some(needsLab) ? await startLab() : undefined;
Object.assign(process.env, postgres.env, lab && { TEST_LAB: lab.about.control });
try {
  process.exitCode = await runAndLookAgain();
  if (!(await checked)) process.exitCode = 1;
} finally {
  await Promise.all([postgres.stop(), lab?.end()]);
}
// A run that was broken off leaves streams open that nobody reads any more.
process.exit();

async function runAndLookAgain(): Promise<number> {
  const units = planUnits(files);
  const first = await runAllOf(values.minutes ? shuffled(units, await thisCommit()) : units, width, minutes);
  const failed = first.flatMap(({ failedFiles }) => failedFiles);
  if (stopping.signal.aborted) return 130;
  const isWorthIt = failed.length > 0 && failed.length <= mostAgain && files.length > 1;
  const again = isWorthIt ? await runAlone(failed, first) : [];
  const unsteady = again.filter((outcome) => outcome.failed === 0).map(({ unit }) => unit.name);
  tellEnd(first, unsteady);
  if (values.durations) {
    const passed = first.filter((outcome) => outcome.failed === 0);
    writeDurations(new Map(passed.flatMap(({ secondsOf }) => [...secondsOf])));
  }
  return failed.length > unsteady.length || unsteady.length > mostUnsteady ? 1 : 0;
}

async function runAllOf(
  units: readonly Unit[],
  lanes: Readonly<Record<Lane, number>>,
  withinMinutes = Number.POSITIVE_INFINITY,
): Promise<Outcome[]> {
  const shown = new ShownRun(units);
  const outcomes: Outcome[] = [];
  await runInLanes(units, lanes, async (unit) => {
    if (stopping.signal.aborted) return;
    if (performance.now() - began > withinMinutes * 60_000) return void notBegun.push(...unit.files);
    shown.begin(unit);
    const outcome = await runUnit(unit, stopping.signal);
    outcomes.push(outcome);
    if (outcome.failed > 0 || isNamed) shown.say(await outcome.output());
    shown.finish(outcome);
  });
  shown.end();
  return outcomes;
}

/** What was seen only once is told at the end again: the rest of a long run is between it and the reader. */
async function runAlone(failed: readonly string[], first: readonly Outcome[]): Promise<Outcome[]> {
  process.stdout.write(`\nOnce more, alone: ${failed.join(', ')}\n`);
  const units = failed.flatMap((file) => planUnits([file]));
  const outcomes = await runAllOf(units, { processor: 1, servers: 0 });
  for (const { unit } of outcomes.filter((each) => each.failed === 0)) {
    process.stdout.write(`\nUnsteady: ${unit.name} passed alone; beside the others it said:\n`);
    for (const each of first.filter(({ failedFiles }) => failedFiles.includes(unit.name)))
      process.stdout.write(failuresIn(await each.output()));
  }
  return outcomes;
}

function failuresIn(output: string): string {
  return output.slice(Math.max(0, output.indexOf('failing tests:')));
}

function tellEnd(outcomes: readonly Outcome[], unsteady: readonly string[]): void {
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const slowest = outcomes.toSorted((one, other) => other.seconds - one.seconds).slice(0, slowestShown);
  if (outcomes.length > slowestShown) {
    say('\nThe slowest:');
    for (const { unit, seconds } of slowest) say(`${seconds.toFixed(1).padStart(7)} s  ${unit.name}`);
  }
  const skipped = outcomes.flatMap((outcome) => outcome.skipped);
  for (const { name, why } of skipped) say(`Skipped: ${name}${why && `, because ${why}`}`);
  if (leftOut) say(leftOut);
  if (notBegun.length > 0)
    say(`\nNot begun within ${minutes} minutes, and so not proven: ${notBegun.sort().join(', ')}`);
  const failed = outcomes
    .flatMap(({ failedFiles }) => failedFiles)
    .filter((file) => !unsteady.includes(file));
  if (failed.length > 0) say(`\nFailed: ${failed.join(', ')}`);
  if (unsteady.length > 0) say(`Unsteady, failed beside the others and passed alone: ${unsteady.join(', ')}`);
  if (unsteady.length > mostUnsteady) say(`More than ${mostUnsteady} unsteady file fails the run.`);
  say(`\nIn ${((performance.now() - began) / 60_000).toFixed(1)} minutes`);
  const tail = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
  const [passes, failures] = [sum(outcomes, 'passed'), sum(outcomes, 'failed')];
  // What passed alone has passed, if late: it is told by name above.
  const passedAlone = sum(
    outcomes.filter(({ failedFiles }) => isAll(failedFiles, unsteady)),
    'failed',
  );
  say(`${passes + passedAlone} passed, ${failures - passedAlone} failed${tail}`);
}

/** So that each commit proves others of those for which there is no time. */
async function thisCommit(): Promise<string> {
  return (await attempt('git', ['rev-parse', 'HEAD'], { cwd: root })).stdout;
}

function sum(outcomes: readonly Outcome[], what: 'passed' | 'failed'): number {
  return outcomes.reduce((all, outcome) => all + outcome[what], 0);
}

function isAll(some: readonly string[], of: readonly string[]): boolean {
  return some.every((each) => of.includes(each));
}

/** Bound to this process: were we killed, it would end and clear up by itself. */
async function startLab(): Promise<BoundLab> {
  try {
    return await launchBound(`test-${process.pid}`, ['docker', 'docker'], new Progress());
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}
