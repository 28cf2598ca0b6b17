/** Runs units in their lanes, several at a time; whoever has nothing left in its own lane helps in the other. */
import type { Lane, Unit } from './plan.ts';

export async function runInLanes(
  units: readonly Unit[],
  width: Readonly<Record<Lane, number>>,
  work: (unit: Unit) => Promise<void>,
): Promise<void> {
  const left = [...units];
  const take = (lane: Lane): Unit | undefined => {
    const own = left.findIndex((unit) => unit.lane === lane);
    return left.splice(Math.max(own, 0), 1)[0];
  };
  const worker = async (lane: Lane) => {
    for (let unit = take(lane); unit; unit = take(lane)) await work(unit);
  };
  const lanes: readonly Lane[] = ['processor', 'servers'];
  await Promise.all(lanes.flatMap((lane) => Array.from({ length: width[lane] }, () => worker(lane))));
}
