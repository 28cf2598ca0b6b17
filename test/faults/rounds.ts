/**
 * One trial after the other on one ground, under constant load: a deployment, a trouble in the middle of it, and then
 * everything is compared with what must be. Ends of deployments, what is on the server, and every single request count.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { consistent, imagesOn } from './aftermath.ts';
import type { TrialDatabase } from './database.ts';
import type { Body, Ground } from './ground.ts';
import { Load } from './load.ts';
import type { Version } from './sample.ts';
import { type Trial, toldTrial } from './trials.ts';
import { cause, order, type Window } from './troubles.ts';

export interface Round {
  readonly what: string;
  readonly end: string;
  readonly ms: number;
  readonly answered: number;
  readonly excused: number;
}

export class Rounds {
  readonly #ground: Ground;
  readonly #database: TrialDatabase | undefined;
  #load: Load | undefined;
  #answered = 0;

  /** Without a database of its own, none is taken away. */
  constructor(ground: Ground, database?: TrialDatabase) {
    this.#ground = ground;
    this.#database = database;
  }

  async run(trial: Trial, name: string): Promise<Round> {
    try {
      return await this.#run(trial, name);
    } finally {
      // What nobody came to would meet the next one.
      this.#ground.orders.clear();
    }
  }

  async #run(trial: Trial, name: string): Promise<Round> {
    const begunAt = Date.now();
    const load = await this.#loaded();
    const before = await this.#before();
    order(this.#ground, trial.trouble);
    if (trial.trouble.kind === 'reboot') await this.#rest();
    const id = await this.#ask(trial, name, before.currentDeploymentId);
    const cancelling = this.#cancel(trial, id);
    const troubling = cause(
      { ground: this.#ground, database: this.#database, deploymentId: id },
      trial.trouble,
    );
    for (const each of [cancelling, troubling]) each.catch(() => undefined);
    const ended = await this.#ground.ended(id, this.#ground.environmentId, patienceOf(trial));
    const left = () => this.#ground.orders.left().join(', ');
    const isCancelled = await soon(cancelling, () => `the cancel at ${left()}`);
    const window = await soon(troubling, () => `the trouble at ${left()}`);
    await this.#ground.revive();
    await this.#ground.quiet(120_000);
    mustEnd(trial, ended, isCancelled);
    const isBuilt = trial.course.kind === 'deploy' && ended.status === 'succeeded';
    await consistent(this.#ground, { before: before.images, isTidied: isBuilt });
    const excused = await this.#allAnswered(load, window);
    await this.#pointsTo(id, ended, before.currentDeploymentId);
    const { answered } = await (await this.#loaded()).answered(1);
    const fresh = answered - this.#answered;
    this.#answered = answered;
    const end = `${ended.status}${ended.fault ? ` (${Object(ended.fault).code})` : ''}`;
    return { what: toldTrial(trial), end, ms: Date.now() - begunAt, answered: fresh, excused };
  }

  endNow(): void {
    this.#load?.endNow();
  }

  async end(): Promise<void> {
    await this.#rest();
  }

  async #loaded(): Promise<Load> {
    const { lab, server, url, otherUrl } = this.#ground;
    if (!this.#load) {
      const serves = async () => (await fetch(url).catch(() => undefined))?.status === 200 || undefined;
      await until(async () => (await serves()) ?? sleep(200, undefined), 'the environment to serve');
      this.#answered = 0;
      this.#load = await Load.start(lab, server.name, url, otherUrl.replace('http:', 'ws:'));
    }
    return this.#load;
  }

  /** A server that is started again takes the network of its visitors with it: they are sent away before. */
  async #rest(): Promise<void> {
    const load = this.#load;
    this.#load = undefined;
    await load?.end();
  }

  async #before(): Promise<{ currentDeploymentId: string; images: Set<string> }> {
    const { currentDeploymentId } = await this.#ground.environment();
    return { currentDeploymentId: String(currentDeploymentId), images: await imagesOn(this.#ground) };
  }

  async #ask({ course, trouble }: Trial, name: string, current: string): Promise<string> {
    const ground = this.#ground;
    const { commit } = await ground.deployment(current);
    const sha = String(Object(commit).sha);
    if (course.kind === 'redeploy') return ground.deploy(sha);
    if (course.kind === 'rollback') {
      const earlier = (await ground.deployments()).find(
        (each) => each.status === 'succeeded' && Object(each.commit).sha !== sha,
      );
      if (!earlier) throw new Error('there is nothing to go back to');
      return ground.rollBackTo(String(earlier.id));
    }
    return ground.deploy(
      await ground.push(versionFor(course.kind, name, trouble.kind === 'cut' && trouble.forMs > 60_000)),
    );
  }

  /** Whether it was in time. */
  async #cancel({ course }: Trial, id: string): Promise<boolean> {
    if (course.kind !== 'cancel') return false;
    const point = { moment: 'after', entry: `${course.at} running` } as const;
    this.#ground.orders.give(point, 'wait');
    await this.#ground.orders.met(point, 300_000);
    const isInTime = await this.#ground.cancel(id);
    this.#ground.orders.letGo(point);
    return isInTime;
  }

  /** How many were excused; throws where one was not. */
  async #allAnswered(load: Load, window: Window | undefined): Promise<number> {
    const failures = load.failures.splice(0);
    const lost = failures.filter(({ begunAt, at }) => !window || at < window.from || begunAt > window.to);
    assert.deepEqual(lost.slice(0, 5), [], `${lost.length} requests failed`);
    return failures.length;
  }

  /** What answers is what the environment says is live. */
  async #pointsTo(id: string, { status }: Body, before: string): Promise<void> {
    const ground = this.#ground;
    const current = String((await ground.environment()).currentDeploymentId);
    const newest = (await ground.deployments()).find((each) => each.status === 'succeeded');
    assert.equal(current, newest?.id, 'the environment points to the newest that succeeded');
    if (status !== 'succeeded') assert.notEqual(current, id);
    else assert.notEqual(current, before);
    const load = await this.#loaded();
    // Those that were under way are answered by now.
    await load.answered(10);
    const { lastVersion } = await load.answered(5);
    assert.equal(lastVersion, await ground.versionOf(current), 'the release that answers');
  }
}

function versionFor(kind: Trial['course']['kind'], name: string, isLong: boolean): Version {
  if (kind === 'broken build') return { name, build: `echo ${name}; sleep 1; exit 3` };
  if (kind === 'memory')
    return { name, build: `node -e 'const all = []; for (;;) all.push(Buffer.alloc(2e7, 1))'` };
  if (kind === 'crashing') return { name, crashes: true };
  return { name, build: `echo ${name}; sleep ${isLong ? 30 : 2}`, ballast: 200_000 };
}

/** Each kill costs a lease and a start; a long cut is sat out. */
function patienceOf({ trouble }: Trial): number {
  if (trouble.kind === 'kill') return 300_000 + trouble.points.length * 15_000;
  return 300_000 + ('forMs' in trouble ? trouble.forMs : 0);
}

const codes: Partial<Record<Trial['course']['kind'], RegExp>> = {
  'broken build': /^build_failed$/,
  memory: /^build_out_of_memory$/,
  crashing: /^app_/,
};

function mustEnd({ course, trouble }: Trial, { status, fault }: Body, isCancelled: boolean): void {
  const told = JSON.stringify(fault);
  const code = String(Object(fault).code);
  assert.notEqual(code, 'undo_failed', told);
  const natural = naturalEnd(course.kind, isCancelled);
  const mayFail = trouble.kind === 'disk' || trouble.kind === 'proxy' || trouble.kind === 'reboot';
  if (mayFail && status === 'failed') return;
  assert.equal(status, natural, told);
  const wanted = codes[course.kind];
  if (wanted) assert.match(code, wanted, told);
}

function naturalEnd(kind: Trial['course']['kind'], isCancelled: boolean): string {
  if (kind === 'cancel') return isCancelled ? 'cancelled' : 'succeeded';
  return codes[kind] ? 'failed' : 'succeeded';
}

async function soon<T>(work: Promise<T>, what: () => string): Promise<T> {
  const late = sleep(120_000, undefined, { ref: false }).then(() => {
    throw new Error(`the deployment has ended, but ${what()} has not come`);
  });
  late.catch(() => undefined);
  return Promise.race([work, late]);
}
