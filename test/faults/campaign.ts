/**
 * `npm run deploy-campaign -- --runs 200 --seed 1`: deployments under load, each with a trouble of the seed's choosing
 * in the middle, and fails where one ends otherwise than it should, leaves anything behind, or loses a request.
 * `--round 17` repeats one round of the seed alone; `--minutes 30` begins no round after that time; `--long` cuts the
 * network for five minutes now and then, and takes the database away for a minute each time.
 */
import { LabClient } from '../../lab/client.ts';
import { launchBound } from '../../lab/launch.ts';
import { whyNot } from '../../lab/needs.ts';
import { Progress } from '../../lab/progress.ts';
import { readArguments } from '../../scripts/arguments.ts';
import { Random } from '../support/random.ts';
import { TrialDatabase } from './database.ts';
import { Ground } from './ground.ts';
import { type Round, Rounds } from './rounds.ts';
import { chooseTrial, toldTrial } from './trials.ts';

const options = {
  runs: { type: 'string', default: '200' },
  seed: { type: 'string', default: '1' },
  round: { type: 'string' },
  minutes: { type: 'string' },
  long: { type: 'boolean', default: false },
} as const;
const usage =
  'Usage: npm run deploy-campaign -- [--runs <how many>] [--seed <whole number>] [--round <which one alone>] [--minutes <at most>] [--long]';
const { values } = readArguments({ options }, usage);
const [runs, seed] = [Number(values.runs), Number(values.seed)];
const only = values.round === undefined ? undefined : Number(values.round);
const minutes = values.minutes === undefined ? Number.POSITIVE_INFINITY : Number(values.minutes);
const isCount = (value: number) => Number.isInteger(value) && value >= 1;
const reason = whyNot();
if (reason || !Number.isInteger(seed) || ![runs, only ?? 1].every(isCount) || !(minutes > 0)) {
  process.stderr.write(reason ? `Not here: ${reason}.\n` : `${usage}\n`);
  process.exit(1);
}

const numbers = only === undefined ? Array.from({ length: runs }, (_, index) => index + 1) : [only];
const lastBegin = Date.now() + minutes * 60_000;
const lab = await launchBound(`faults-${process.pid}`, [], new Progress());
const tally = new Map<string, { good: number; bad: number }>();
const bad: number[] = [];
let [answered, excused] = [0, 0];
let scene: { database: TrialDatabase; ground: Ground; rounds: Rounds } | undefined;
process.on('exit', () => {
  scene?.rounds.endNow();
  scene?.ground.endNow();
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => void end().finally(() => process.exit(1)));
}
try {
  for (const number of numbers) {
    if (Date.now() > lastBegin) break;
    await tryRound(number);
  }
} finally {
  await end();
  await lab.end();
}
for (const [kind, { good, bad: lost }] of [...tally].sort()) say(`${kind}: ${good} good, ${lost} bad`);
const rounds = [...tally.values()].reduce((sum, each) => sum + each.good + each.bad, 0);
say(`Seed ${seed}: ${rounds} rounds, ${bad.length} bad${bad.length > 0 ? ` (${bad.join(', ')})` : ''}.`);
say(`${answered} requests answered; ${excused} failed while the proxy's own container was down.`);
if (bad.length > 0) process.exitCode = 1;

/** A round that failed may have left anything: the next one stands on new ground. */
async function tryRound(number: number): Promise<void> {
  const random = new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b));
  const trial = chooseTrial(random, values.long);
  const count = tally.get(trial.trouble.kind) ?? { good: 0, bad: 0 };
  tally.set(trial.trouble.kind, count);
  try {
    scene ??= await begin();
    const round = await scene.rounds.run(trial, `s${seed}-r${number}-${Date.now().toString(36)}`);
    count.good += 1;
    tell(number, round);
  } catch (error) {
    count.bad += 1;
    bad.push(number);
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
    say(`round ${number} FAILED: ${toldTrial(trial)}\n${told}\n${scene?.ground.said ?? ''}`);
    await end();
  }
}

function tell(number: number, { what, end: how, ms, answered: fresh, excused: some }: Round): void {
  answered += fresh;
  excused += some;
  const seconds = (ms / 1_000).toFixed(1);
  say(
    `round ${number}: ${what}; ${how}; ${seconds} s, ${fresh} answered${some > 0 ? `, ${some} excused` : ''}`,
  );
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function begin() {
  const database = await TrialDatabase.open();
  const ground = await Ground.open(new LabClient(lab.about.control), lab.about, database.url);
  return { database, ground, rounds: new Rounds(ground, database) };
}

async function end(): Promise<void> {
  const old = scene;
  scene = undefined;
  old?.rounds.endNow();
  await old?.ground.close();
  await old?.database.remove();
}
