/** What processes take of the machine, out of /proc; and on which core they run. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import pg from 'pg';

/** Linux counts in hundredths of a second, on every machine that we run on. */
const tickMs = 10;
const cores = availableParallelism();

/** Instances have the first cores to themselves; where there is none left for the rest, all share them. */
export function keepToOtherCores(instances: number): void {
  if (cores > instances)
    spawnSync('taskset', ['-a', '-cp', `${instances}-${cores - 1}`, String(process.pid)], {
      stdio: 'ignore',
    });
}

export function onCore(core: number, command: readonly string[]): [string, ...string[]] {
  return ['taskset', '-c', String(core % cores), ...command];
}

function timesOf(pid: number): { readonly parent: number; readonly ownMs: number; readonly endedMs: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const at = (index: number) => Number(fields[index] ?? Number.NaN);
  return { parent: at(1), ownMs: (at(11) + at(12)) * tickMs, endedMs: (at(13) + at(14)) * tickMs };
}

export function processorMs(pid: number): number {
  return timesOf(pid).ownMs;
}

export function residentKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

/** Of all processes of the PostgreSQL behind that URL, also of those that have ended. */
export async function databaseMs(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const postmaster = timesOf(rows[0]?.pid ?? 0).parent;
  let sum = processorMs(postmaster) + timesOf(postmaster).endedMs;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const { parent, ownMs } = timesOf(Number(name));
      if (parent === postmaster) sum += ownMs;
    } catch (error) {
      // One that ended between the two looks.
      if (!(error instanceof Error && 'code' in error && ['ENOENT', 'ESRCH'].includes(String(error.code))))
        throw error;
    }
  }
  await client.end();
  return sum;
}
