/** Constant visitors of the environment that is deployed to and of the one that nothing may happen to. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Failure, Load } from '../faults/load.ts';
import type { Window } from '../faults/troubles.ts';
import { until } from '../support/until.ts';
import type { Scene } from './scene.ts';

export interface Judged {
  readonly answered: number;
  readonly excused: number;
  readonly lost: readonly Failure[];
}

export class Visitors {
  readonly #scene: Scene;
  #loads: Load[] = [];
  #before: number[] = [];
  /** Of those who were sent away meanwhile. */
  #earlier = 0;
  #failures: Failure[] = [];

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  async come(): Promise<void> {
    if (this.#loads.length > 0) return;
    const { lab, server, url, otherUrl } = this.#scene.ground;
    for (const each of [url, otherUrl]) {
      const serves = async () => (await fetch(each).catch(() => undefined))?.status === 200 || undefined;
      await until(async () => (await serves()) ?? sleep(200, undefined), 'an environment to serve');
    }
    this.#loads = [
      await Load.start(lab, server.name, url, otherUrl.replace('http:', 'ws:')),
      await Load.start(lab, server.name, otherUrl, ''),
    ];
    this.#before = [0, 0];
  }

  /** A server that is started again takes the network of its visitors with it: they are sent away before. */
  async awayWhile(work: () => Promise<void>): Promise<void> {
    const loads = this.#loads;
    this.#loads = [];
    for (const [index, load] of loads.entries()) {
      const { answered } = await load.end();
      this.#earlier += answered - (this.#before[index] ?? 0);
      this.#failures.push(...load.failures);
    }
    await work();
    await this.come();
  }

  /** Since the last time. Nobody can be answered while the proxy's own container is down: those failures are excused. */
  async judge(windows: readonly Window[]): Promise<Judged> {
    let answered = this.#earlier;
    const failures = this.#failures;
    for (const [index, load] of this.#loads.entries()) {
      const seen = await load.answered(10);
      answered += seen.answered - (this.#before[index] ?? 0);
      this.#before[index] = seen.answered;
      failures.push(...load.failures.splice(0));
    }
    [this.#earlier, this.#failures] = [0, []];
    const isExcused = ({ begunAt, at }: Failure) =>
      windows.some(({ from, to }) => at >= from && begunAt <= to);
    const lost = failures.filter((each) => !isExcused(each));
    return { answered, excused: failures.length - lost.length, lost };
  }

  /** The version that answers in the environment that is deployed to. */
  async version(): Promise<string> {
    const [load] = this.#loads;
    // Those that were under way are answered by then.
    await load?.answered(10);
    return (await load?.answered(5))?.lastVersion ?? '';
  }

  endNow(): void {
    for (const load of this.#loads) load.endNow();
  }
}
