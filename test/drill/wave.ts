/**
 * One wave: operations of many kinds at once under load, a row of faults in the middle of them, and then everything is
 * compared with what must be: how each operation ended, what was written, what is on the servers, and every request.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Window } from '../faults/troubles.ts';
import type { Crowd } from '../support/crowd.ts';
import type { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import { consistent } from './aftermath.ts';
import { runApp } from './app-lane.ts';
import { crowdOf, lostOf, type MemberWindow, runCluster, runMember } from './cluster-lanes.ts';
import { runData } from './data-lane.ts';
import { endWrongs } from './ends.ts';
import { cause, chooseFaults, type DrillFault, type FaultKind } from './faults.ts';
import { type EndedOperation, historyWrongs, now, operationsSince, unfinished } from './history.ts';
import { type Expected, Lane } from './lane.ts';
import { runProject, runServer, runSide } from './other-lanes.ts';
import type { Scene } from './scene.ts';
import { chooseTasks, type LaneName, type Tasks } from './tasks.ts';
import { Visitors } from './visitors.ts';
import { Watch } from './watch.ts';

export interface WavePlan {
  readonly tasks: Tasks;
  readonly faults: readonly DrillFault[];
}

export interface Wave {
  readonly operations: readonly EndedOperation[];
  readonly ms: number;
  readonly answered: number;
  readonly excused: number;
  readonly looks: number;
}

/** Hears of every fault that has come about, those of a wave that fails, too; and what happens, line by line. */
export interface NotifyHandler {
  caused(kind: FaultKind): void;
  tell(line: string): void;
}

export interface Shape {
  readonly lanes: readonly LaneName[];
  readonly least: number;
  readonly most: number;
  readonly hasOutage: boolean;
}

export function planWave(random: Random, { lanes, least, most, hasOutage }: Shape): WavePlan {
  const faults = chooseFaults(random, random.between(least, most), { hasOutage, lanes });
  const isDiskFull = faults.some(({ kind }) => kind === 'disk');
  const tasks = chooseTasks(random, lanes, isDiskFull);
  return { faults: faults.map((fault) => felt(fault, tasks)), tasks };
}

/** A fault that nobody could feel in this wave is exchanged for its neighbour. */
function felt(fault: DrillFault, tasks: Tasks): DrillFault {
  if (fault.kind === 'cut second' && tasks.server.length === 0) return { ...fault, kind: 'cut' };
  if (fault.kind === 'names' && tasks.side.length === 0) return { ...fault, kind: 'git host' };
  return fault;
}

export class Waves {
  readonly #scene: Scene;
  readonly #visitors: Visitors;
  readonly #watch: Watch;
  readonly #hearer: NotifyHandler;
  #crowd: Crowd | undefined;

  constructor(scene: Scene, hearer: NotifyHandler) {
    this.#scene = scene;
    this.#visitors = new Visitors(scene);
    this.#watch = new Watch(scene.db);
    this.#hearer = hearer;
  }

  async run(plan: WavePlan, name: string): Promise<Wave> {
    try {
      return await this.#run(plan, name);
    } catch (error) {
      await this.#watch.leave();
      await this.#crowd?.end();
      throw error;
    }
  }

  async #run({ tasks, faults }: WavePlan, name: string): Promise<Wave> {
    const scene = this.#scene;
    const begunAt = Date.now();
    await this.#visitors.come();
    this.#crowd = scene.cluster && (await crowdOf(scene.ground, scene.cluster));
    const since = await now(scene.db);
    const looksBefore = this.#watch.looks;
    this.#watch.start();
    const expected = new Map<string, Expected>();
    const over = { isOver: false };
    const working = this.#work(tasks, name, expected, over);
    working.catch(() => undefined);
    const { windows, ofMembers } = await this.#trouble(faults).finally(() => {
      over.isOver = true;
    });
    await Promise.race([working, tooLong(480_000)]);
    await scene.ground.revive();
    await quiet(scene);
    const operations = await operationsSince(scene.db, since);
    const kinds = new Set(faults.map(({ kind }) => kind));
    this.#hearer.tell(`${operations.length} operations have ended`);
    const cameRight = consistent(scene, (line) => this.#hearer.tell(line));
    const wrong = [
      ...(await this.#watch.end()),
      ...endWrongs(operations, expected, kinds),
      ...(await cameRight.then(
        () => [],
        (error: unknown) => [String(error)],
      )),
    ];
    await quiet(scene);
    wrong.push(...(await historyWrongs(scene.db, since)));
    const { answered, excused, lost } = await this.#visitors.judge(windows);
    if (lost.length > 0) wrong.push(`${lost.length} requests failed: ${JSON.stringify(lost.slice(0, 5))}`);
    const crowd = this.#crowd;
    await crowd?.end();
    const missed = crowd ? lostOf(crowd, ofMembers) : [];
    if (missed.length > 0)
      wrong.push(`${missed.length} requests to the cluster failed: ${JSON.stringify(missed.slice(0, 5))}`);
    assert.deepEqual(wrong, [], 'the world after the wave');
    await this.#answersWithCurrent();
    const looks = this.#watch.looks - looksBefore;
    const all = {
      answered: answered + (crowd?.answered ?? 0),
      excused: excused + (crowd?.failures.length ?? 0),
    };
    return { ...all, operations, ms: Date.now() - begunAt, looks };
  }

  async #work(tasks: Tasks, name: string, expected: Map<string, Expected>, over: { isOver: boolean }) {
    const each = async <T extends object>(all: readonly T[], run: (task: T) => Promise<void>) => {
      for (const [index, task] of all.entries()) {
        if (index > 0 && over.isOver) continue;
        this.#hearer.tell(`begins: ${JSON.stringify(task)}`);
        await run(task);
        this.#hearer.tell(`has ended: ${JSON.stringify(task)}`);
      }
    };
    const on = <T extends object>(
      what: string,
      all: readonly T[],
      run: (lane: Lane, task: T) => Promise<void>,
    ) => {
      const lane = new Lane(this.#scene, `${name}-${what}`, expected);
      return each(all, (task) => run(lane, task));
    };
    await Promise.all([
      on('a', tasks.app, runApp),
      on('d', tasks.data, runData),
      on('s', tasks.side, runSide),
      on('p', tasks.project, runProject),
      on('m', tasks.server, runServer),
      on('c', tasks.cluster, runCluster),
      on('n', tasks.members, runMember),
    ]);
  }

  async #trouble(
    faults: readonly DrillFault[],
  ): Promise<{ readonly windows: readonly Window[]; readonly ofMembers: readonly MemberWindow[] }> {
    const scene = this.#scene;
    const around = {
      scene,
      atWork: () => unfinished(scene.db),
      withoutVisitors: (work: () => Promise<void>) => this.#visitors.awayWhile(work),
    };
    const windows: Window[] = [];
    const ofMembers: MemberWindow[] = [];
    for (const fault of faults) {
      const { kind, window, ofMember } = await cause(around, fault);
      if (window) windows.push(window);
      ofMembers.push(...(ofMember ?? []));
      this.#hearer.caused(kind);
      this.#hearer.tell(`fault ${kind} is over`);
    }
    return { windows, ofMembers };
  }

  async #answersWithCurrent(): Promise<void> {
    const { ground } = this.#scene;
    const { currentDeploymentId } = await ground.environment();
    const wanted = await ground.versionOf(String(currentDeploymentId));
    assert.equal(await this.#visitors.version(), wanted, 'the release that answers');
  }

  endNow(): void {
    this.#visitors.endNow();
  }
}

async function quiet({ db }: Scene): Promise<void> {
  await until(
    async () => {
      if ((await unfinished(db)).length === 0) return true;
      await sleep(250);
      return undefined;
    },
    'all operations to end',
    400_000,
  );
}

async function tooLong(ms: number): Promise<never> {
  await sleep(ms, undefined, { ref: false });
  throw new Error('what was asked for has not come to its end');
}
