/** What an earlier PostgreSQL left in our folder: processes that are still ending, and its pid files. */
import { readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../../fault.ts';
import { readFileIfExists } from '../files.ts';

const shutdownMs = 20_000;
/** Workers without their server end by themselves at once, unless one waits for a lock that a dead one holds. */
const orphanMs = 1_000;

/**
 * Waits for what an earlier, killed service left behind: a server that is shutting down, or the workers of one
 * that was killed too. We hold the data folder's lock, so no living service needs them.
 */
export async function stopStaleProcesses(postgresDir: string, sockets: string): Promise<void> {
  const pidFile = join(postgresDir, 'postmaster.pid');
  const begun = Date.now();
  let orphanedAt: number | undefined;
  for (;;) {
    const server = Number(readFileIfExists(pidFile)?.split('\n')[0]);
    const left = processesIn(realpathSync(postgresDir));
    if (left.length === 0) break;
    if (!left.includes(server)) {
      orphanedAt ??= Date.now();
      if (Date.now() - orphanedAt > orphanMs) for (const pid of left) signal(pid, 'SIGKILL');
    } else if (Date.now() - begun > shutdownMs) for (const pid of left) signal(pid, 'SIGQUIT');
    else signal(server, 'SIGINT');
    await sleep(20);
  }
  // Both name the old server's id. Another process may carry it by now, or a zombie.
  rmSync(pidFile, { force: true });
  rmSync(join(sockets, '.s.PGSQL.5432.lock'), { force: true });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error; // ESRCH: it has ended meanwhile, which is what we want
  }
}

/** PostgreSQL works in its data folder, so that is how its processes are known. */
function processesIn(folder: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => isPostgres(pid) && target(pid, 'cwd') === folder).map(Number);
}

/** Not every process there is ours: a person may have a shell in the folder. */
function isPostgres(pid: string): boolean {
  return /\/postgres( \(deleted\))?$/.test(target(pid, 'exe') ?? '');
}

function target(pid: string, link: 'cwd' | 'exe'): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/${link}`);
  } catch {
    return undefined; // it has ended meanwhile, or belongs to a user whose processes we may not read
  }
}
