/**
 * `npm run drill -- --faults 500 --seed 1`: waves of operations of all kinds under load, with faults of all kinds in the
 * middle of them, and the history checked after each. `--wave 17` repeats one wave of the seed alone; `--minutes 60`
 * begins no wave after that time; `--lanes app,data` leaves the other lanes out, and `--talk` tells everything
 * while it happens.
 */
import { LabClient } from '../../lab/client.ts';
import { launchBound } from '../../lab/launch.ts';
import { whyNot } from '../../lab/needs.ts';
import { Progress } from '../../lab/progress.ts';
import { readArguments } from '../../scripts/arguments.ts';
import { TrialDatabase } from '../faults/database.ts';
import { Random } from '../support/random.ts';
import { toldFaults } from './faults.ts';
import { Scene } from './scene.ts';
import { Summary } from './summary.ts';
import { laneNames } from './tasks.ts';
import { planWave, Waves } from './wave.ts';

const options = {
  faults: { type: 'string', default: '500' },
  seed: { type: 'string', default: '1' },
  wave: { type: 'string' },
  minutes: { type: 'string' },
  lanes: { type: 'string', default: laneNames.join() },
  talk: { type: 'boolean', default: false },
} as const;
const usage =
  'Usage: npm run drill -- [--faults <at least>] [--seed <whole number>] [--wave <which one alone>] [--minutes <at most>] [--lanes <some>] [--talk]';
const { values } = readArguments({ options }, usage);
const [wanted, seed] = [Number(values.faults), Number(values.seed)];
const only = values.wave === undefined ? undefined : Number(values.wave);
const minutes = values.minutes === undefined ? Number.POSITIVE_INFINITY : Number(values.minutes);
const lanes = laneNames.filter((each) => values.lanes.split(',').includes(each));
const isCount = (value: number) => Number.isInteger(value) && value >= 1;
const reason = whyNot();
if (reason || !Number.isInteger(seed) || ![wanted, only ?? 1].every(isCount) || !(minutes > 0)) {
  process.stderr.write(reason ? `Not here: ${reason}.\n` : `${usage}\n`);
  process.exit(1);
}

const summary = new Summary();
const lastBegin = Date.now() + minutes * 60_000;
const lab = await launchBound(`drill-${process.pid}`, [], new Progress());
let isAsked = false;
let stage: { database: TrialDatabase; scene: Scene; waves: Waves } | undefined;
process.on('exit', () => {
  stage?.waves.endNow();
  stage?.scene.endNow();
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isAsked = true;
    void end().finally(() => process.exit(1));
  });
}
try {
  for (let number = only ?? 1; isWanted() && Date.now() < lastBegin; number += 1) {
    await tryWave(number);
    if (only !== undefined) break;
  }
} finally {
  await end();
  await lab.end();
}
say(summary.told(seed));
if (summary.bad.length > 0) process.exitCode = 1;

function isWanted(): boolean {
  return summary.faults < wanted && !isAsked;
}

/** A wave that failed may have left anything: the next one stands on new ground. */
async function tryWave(number: number): Promise<void> {
  const random = new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b));
  const plan = planWave(random, { lanes, least: 8, most: 12, hasOutage: true });
  // Where there is no ground to stand on, no other wave has one either.
  stage ??= await begin();
  try {
    const wave = await stage.waves.run(plan, `w${number}-${Date.now().toString(36)}`);
    say(summary.took(number, plan, wave));
  } catch (error) {
    summary.bad.push(number);
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
    say(`wave ${number} FAILED: ${toldFaults(plan.faults)}\n${told}\n${stage?.scene.ground.said ?? ''}`);
    await end();
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function tell(line: string): void {
  if (values.talk) say(`  ${new Date().toISOString().slice(11, 19)} ${line}`);
}

async function begin() {
  const database = await TrialDatabase.open();
  const place = { url: database.url, outage: database };
  const scene = await Scene.open(new LabClient(lab.about.control), lab.about, place, lanes);
  return { database, scene, waves: new Waves(scene, { caused: (kind) => summary.caused(kind), tell }) };
}

async function end(): Promise<void> {
  const old = stage;
  stage = undefined;
  old?.waves.endNow();
  await old?.scene.close();
  await old?.database.remove();
}
