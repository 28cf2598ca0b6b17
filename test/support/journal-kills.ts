/** An operation of ten steps, killed at points of its journal, and ended by the next worker. */
import assert from 'node:assert/strict';
import { whoDied } from './operation-trials.ts';
import type { Host, OperationBench } from './operations.ts';
import { stepNames } from './ten-steps.ts';

/** Begun, ten steps with a start and an end each, and the end: before and after each of these writes. */
const forwards = (1 + 2 * stepNames.length + 1) * 2;
/** Begun, two steps done, the third failed: then the turn, three undos, and the end. */
const turn = (1 + 2 + 2 + 2) * 2;
const backwards = (1 + 2 * 3 + 1) * 2;

/** Every so many of them. */
export async function killForwards(bench: OperationBench, every: number): Promise<void> {
  const workers = await Workers.start(bench);
  for (let point = 0; point < forwards; point += every) {
    const { state, acts } = await workers.killAt({ killAt: point });
    assert.equal(state, 'succeeded', `point ${point}`);
    const once = stepNames.map((name) => [name, 1]);
    assert.deepEqual(acts, once, `point ${point}`);
  }
  await workers.end();
}

export async function killOnTheWayBack(bench: OperationBench, every: number): Promise<void> {
  const workers = await Workers.start(bench);
  for (let point = turn; point < turn + backwards; point += every) {
    const { state, fault, acts } = await workers.killAt({ failAt: 'step-3', killAt: point });
    assert.deepEqual([state, fault?.step, acts], ['failed', 'step-3', []], `point ${point}`);
  }
  await workers.end();
}

/** Two are always there: whichever takes the operation dies, and while the other ends it, its successor starts. */
class Workers {
  readonly #bench: OperationBench;
  #hosts: readonly Host[];

  private constructor(bench: OperationBench, hosts: readonly Host[]) {
    this.#bench = bench;
    this.#hosts = hosts;
  }

  static async start(bench: OperationBench): Promise<Workers> {
    return new Workers(bench, await Promise.all([bench.host(), bench.host()]));
  }

  async killAt(trouble: { killAt: number; failAt?: string }) {
    const bench = this.#bench;
    const id = await bench.enqueue({ world: bench.world.url, ...trouble });
    const ending = bench.ended(id);
    const victim = await whoDied(this.#hosts, ending, `point ${trouble.killAt}: the worker was killed`);
    const [row, successor] = await Promise.all([ending, bench.host()]);
    this.#hosts = [...this.#hosts.filter((host) => host !== victim), successor];
    return { ...row, acts: bench.world.actsOf(id) };
  }

  /** A wake-up that a killed worker had in hand is cleared by whoever is there. */
  async end(): Promise<void> {
    await this.#bench.nothingLeft();
    await Promise.all(this.#hosts.map((host) => host.stop()));
  }
}
