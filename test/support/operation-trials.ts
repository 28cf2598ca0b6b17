/**
 * What every kind of operation has to stand, tried on real processes of the service: failing at each step, each step
 * run twice, and a kill at each write of its journal. An area gives its kind, how to begin, and what must then hold.
 */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewOperation } from '../../src/operations/operations.ts';
import { sql } from '../../src/store/sql.ts';
import type { KillPoint, Order } from './operation-orders.ts';
import type { Host, OperationBench, OperationRow } from './operations.ts';
import { temporaryFolder } from './postgres.ts';
import { hangMs } from './until.ts';

export interface Trial {
  readonly kind: string;
  /** Brings the world into the state before, and says what to enqueue. */
  readonly begin: () => Promise<Omit<NewOperation, 'workspaceId' | 'kind'>>;
  /** Throws where the world is not as it must be after such an end. `what` says how it was broken. */
  readonly check: (how: 'succeeded' | 'failed', what: string) => Promise<void>;
  /** The steps that are worth breaking; all, if not said. Others do nothing with this input. */
  readonly steps?: readonly string[];
  /** For what takes long: kills only before and after the work of each step. The other writes are the journal's own. */
  readonly aroundWorkOnly?: boolean;
  /**
   * For what takes longer still: kills only when the work of a step is done and nobody has written that down. Before it
   * nothing of the kind's own was done since the last write, and what follows is the journal's, which has proofs of its own.
   */
  readonly afterWorkOnly?: boolean;
}

/** Fails it after each step's work in turn: undone, with its fault, and the world consistent. */
export async function failAtEachStep(bench: OperationBench, trial: Trial): Promise<void> {
  const host = await bench.host();
  for (const name of await stepsOf(bench, host, trial)) {
    const what = `failed at ${name}`;
    const row = await run(bench, trial, [host], { failAt: name });
    assert.equal(row.state, 'failed', what);
    assert.deepEqual([row.fault?.code, row.fault?.step], ['bad_request', name], what);
    await host.order({});
    await trial.check('failed', what);
  }
  await host.stop();
}

export async function runEachStepTwice(bench: OperationBench, trial: Trial): Promise<void> {
  const host = await bench.host();
  const row = await run(bench, trial, [host], { twice: true });
  assert.equal(row.state, 'succeeded', `each step twice: ${JSON.stringify(row.fault)}`);
  await host.order({});
  await trial.check('succeeded', 'each step twice');
  await host.stop();
}

/**
 * Kills the process at each write; another one takes over and ends it. Two are always there: whichever takes the
 * operation dies, and while the other works, its successor starts.
 */
export async function killAtEachWrite(bench: OperationBench, trial: Trial): Promise<number> {
  let hosts: readonly Host[] = await Promise.all([bench.host(), bench.host()]);
  const [first] = hosts;
  if (!first) throw new Error('no host');
  const points = pointsOf(await stepsOf(bench, first, trial), trial);
  const folder = temporaryFolder('trial');
  try {
    for (const point of points) hosts = await killAt(bench, trial, hosts, point, join(folder, 'token'));
  } finally {
    rmSync(folder, { recursive: true });
  }
  for (const host of hosts) await host.stop();
  return points.length;
}

/** Fails it, and kills the process when the undo of each of these steps is done and nobody has written that down. */
export async function killAtEachUndo(
  bench: OperationBench,
  trial: Trial,
  failAt: string,
  steps: readonly string[],
): Promise<void> {
  let hosts: readonly Host[] = await Promise.all([bench.host(), bench.host()]);
  const folder = temporaryFolder('trial');
  try {
    for (const name of steps) {
      const point = { moment: 'before' as const, entry: `${name} undone` };
      hosts = await killAt(bench, trial, hosts, point, join(folder, 'token'), failAt);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  for (const host of hosts) await host.stop();
}

/** The hosts afterwards: the heir, and one more. */
async function killAt(
  bench: OperationBench,
  trial: Trial,
  hosts: readonly Host[],
  point: KillPoint,
  token: string,
  failAt?: string,
): Promise<readonly Host[]> {
  const what = `killed ${point.moment} «${point.entry}»`;
  const how = failAt === undefined ? 'succeeded' : 'failed';
  writeFileSync(token, '');
  const ending = run(bench, trial, hosts, { killAt: { ...point, token }, ...(failAt && { failAt }) });
  const victim = await whoDied(hosts, ending, what);
  const [row, successor] = await Promise.all([ending, bench.host()]);
  assert.equal(row.state, how, `${what}: ${JSON.stringify(row.fault)}`);
  if (failAt) assert.equal(row.fault?.code, 'bad_request', `${what}: ${JSON.stringify(row.fault)}`);
  assert.ok(row.epoch > 1 || point.entry === 'succeeded', `${what}: nobody took over`);
  const left = [...hosts.filter((host) => host !== victim), successor];
  await Promise.all(left.map((host) => host.order({})));
  await trial.check(how, what);
  return left;
}

/** The one of them that was killed while the operation went on. */
export async function whoDied(hosts: readonly Host[], ending: Promise<unknown>, what: string): Promise<Host> {
  const died = hosts.map((host) => host.exited.then(() => host));
  const victim = await Promise.race([...died, ending.then(() => sleep(hangMs, undefined, { ref: false }))]);
  assert.equal(victim?.child.signalCode, 'SIGKILL', what);
  return victim ?? assert.fail(what);
}

/**
 * The moments that differ. What stands before a step is begun stands after the write before it; so beside the first
 * write, only the end of a step's work is also tried from its other side.
 */
function pointsOf(
  steps: readonly string[],
  { aroundWorkOnly, afterWorkOnly }: Pick<Trial, 'aroundWorkOnly' | 'afterWorkOnly'>,
): KillPoint[] {
  const before = (entry: string) => ({ moment: 'before' as const, entry });
  const after = (entry: string) => ({ moment: 'after' as const, entry });
  if (afterWorkOnly) return steps.map((name) => before(`${name} done`));
  if (aroundWorkOnly) return steps.flatMap((name) => [after(`${name} running`), before(`${name} done`)]);
  const inSteps = steps.flatMap((name) => [
    ...[after(`${name} running`), before(`${name} done`), after(`${name} done`)],
  ]);
  return [before('begun'), after('begun'), ...inSteps, after('succeeded')];
}

/** As an undisturbed run writes them down. */
async function stepsOf(bench: OperationBench, host: Host, trial: Trial): Promise<readonly string[]> {
  if (trial.steps) return trial.steps;
  const row = await run(bench, trial, [host], {});
  assert.equal(row.state, 'succeeded', `undisturbed: ${JSON.stringify(row.fault)}`);
  await trial.check('succeeded', 'undisturbed');
  const steps = await bench.db.rows<{ name: string }>(sql`
    select name from operation_steps where operation_id = ${row.id} order by place`);
  return steps.map(({ name }) => name);
}

async function run(
  bench: OperationBench,
  { kind, begin }: Trial,
  hosts: readonly Host[],
  order: Order,
): Promise<OperationRow & { id: string }> {
  const wish = await begin();
  await Promise.all(hosts.map((host) => host.order(order)));
  const id = await bench.enqueue(wish.input, { ...wish, kind });
  return { id, ...(await bench.ended(id)) };
}
