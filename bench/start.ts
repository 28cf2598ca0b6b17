/** From `npm start` (installed) to the first answer, and what all processes hold in memory at rest. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../src/fault.ts';
import { type Figure, median, megabytes, milliseconds } from './figure.ts';
import { startService } from './service.ts';

const laterStarts = 7;
const restMs = 20_000;

export async function benchStart(): Promise<Figure[]> {
  const command = ['npm', 'start'] as const;
  const first = await startService({ command });
  await first.stop({ keepData: true });
  const later: number[] = [];
  for (let count = 0; count < laterStarts; count += 1) {
    const service = await startService({ command, dataDir: first.dataDir });
    later.push(service.startMs);
    await service.stop({ keepData: true });
  }
  const service = await startService({ command, dataDir: first.dataDir });
  await sleep(restMs);
  const memory = memoryOf(service.process.pid ?? 0);
  await service.stop();
  const sum = (wanted: RegExp) =>
    memory.filter(({ name }) => wanted.test(name)).reduce((total, { mb }) => total + mb, 0);
  return [
    { what: 'first start, `npm start` to first answer', slipway: milliseconds(first.startMs) },
    {
      what: `later starts, median of ${laterStarts}`,
      slipway: milliseconds(median(later)),
      aim: { atMost: 700 },
    },
    { what: 'later starts, the slowest', slipway: milliseconds(Math.max(...later)) },
    { what: 'memory at rest, the service', slipway: megabytes(sum(/main\.js/)) },
    { what: 'memory at rest, PostgreSQL (all processes)', slipway: megabytes(sum(/postgres/)) },
    { what: 'memory at rest, npm that started them', slipway: megabytes(sum(/^npm/)) },
    {
      what: 'memory at rest, in all',
      slipway: megabytes(sum(/postgres|main\.js|^npm/)),
      aim: { atMost: 130 },
    },
  ];
}

/** The process and all below it that are still there; shared pages are counted once (proportional set size). */
export function memoryOf(pid: number): { name: string; mb: number }[] {
  const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8');
  try {
    const kilobytes = Number(/^Pss:\s+(\d+)/m.exec(read('smaps_rollup'))?.[1]);
    const name = read('cmdline').replaceAll('\0', ' ').trim();
    const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      read(`task/${thread}/children`).trim().split(' ').filter(Boolean).map(Number),
    );
    return [{ name, mb: kilobytes / 1000 }, ...children.flatMap(memoryOf)];
  } catch (error) {
    // It has ended since its parent was asked.
    if (['ENOENT', 'ESRCH'].includes(errorCode(error) ?? '')) return [];
    throw error;
  }
}
