/**
 * `npm run lockout-campaign -- --runs 50 --seed 1`: breaks hardening off again and again, and fails where nobody can
 * log in afterwards, or the next run does not end well. Rounds run side by side, each worker with a server, a service
 * and a data folder of its own. `--round 17` repeats one round of the seed alone.
 */
import { LabClient } from '../../lab/client.ts';
import { launchBound } from '../../lab/launch.ts';
import { whyNot } from '../../lab/needs.ts';
import { Progress } from '../../lab/progress.ts';
import { readArguments } from '../../scripts/arguments.ts';
import { Lockouts } from './rounds.ts';

const options = {
  runs: { type: 'string', default: '50' },
  seed: { type: 'string', default: '1' },
  parallel: { type: 'string', default: '3' },
  round: { type: 'string' },
} as const;
const usage =
  'Usage: npm run lockout-campaign -- [--runs <how many>] [--seed <whole number>] [--parallel <how many>] [--round <which one alone>]';
const { values } = readArguments({ options }, usage);
const [runs, seed, parallel] = [Number(values.runs), Number(values.seed), Number(values.parallel)];
const only = values.round === undefined ? undefined : Number(values.round);
const isCount = (value: number) => Number.isInteger(value) && value >= 1;
const reason = whyNot();
if (reason || !Number.isInteger(seed) || ![runs, parallel, only ?? 1].every(isCount)) {
  process.stderr.write(reason ? `Not here: ${reason}.\n` : `${usage}\n`);
  process.exit(1);
}

const waiting = only === undefined ? Array.from({ length: runs }, (_, index) => index + 1) : [only];
const lab = await launchBound(`lockout-${process.pid}`, [], new Progress());
const working = new Set<Lockouts>();
process.on('exit', () => {
  for (const each of working) each.endNow();
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
let [good, bad, slowest] = [0, 0, 0];
try {
  await Promise.all(Array.from({ length: Math.min(parallel, waiting.length) }, work));
} finally {
  await lab.end();
}
process.stdout.write(`${good} good rounds, ${bad} bad ones; slowest login after ${slowest} ms\n`);
if (bad > 0) process.exitCode = 1;

/** Takes rounds until there are none. A round that failed may have left anything: the next one starts anew. */
async function work(): Promise<void> {
  let lockouts = begin();
  try {
    for (let number = waiting.shift(); number !== undefined; number = waiting.shift()) {
      try {
        const { what, loginAfterMs, firstEnd } = await lockouts.round(seed, number);
        good += 1;
        slowest = Math.max(slowest, loginAfterMs);
        process.stdout.write(
          `round ${number}: ${what}; login after ${loginAfterMs} ms; it ended as ${firstEnd}\n`,
        );
      } catch (error) {
        bad += 1;
        const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
        process.stdout.write(`round ${number} FAILED: ${told}\nThe service said: ${lockouts.said}\n`);
        await end(lockouts);
        lockouts = begin();
      }
    }
  } finally {
    await end(lockouts);
  }
}

function begin(): Lockouts {
  const lockouts = new Lockouts(new LabClient(lab.about.control), lab.about);
  working.add(lockouts);
  return lockouts;
}

async function end(lockouts: Lockouts): Promise<void> {
  await lockouts.end();
  working.delete(lockouts);
}
