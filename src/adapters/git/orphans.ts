/** Processes of git that outlived a killed service. We hold the mirror's lock, so no living one needs them. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../../fault.ts';

/** Ends every process that works on a repository below the folder, and waits until they are gone. */
export async function stopOrphans(folder: string): Promise<void> {
  for (;;) {
    const left = processesOn(folder);
    if (left.length === 0) return;
    for (const pid of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        if (errorCode(error) !== 'ESRCH') throw error; // it has ended meanwhile, which is what we want
      }
    }
    await sleep(10);
  }
}

function processesOn(folder: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => pid !== String(process.pid) && worksOn(pid, folder)).map(Number);
}

function worksOn(pid: string, folder: string): boolean {
  try {
    // One that has ended and was not collected yet has an empty environment.
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    return environment.some((each) => each.startsWith(`GIT_DIR=${Buffer.from(folder).toString('latin1')}`));
  } catch {
    return false; // it has ended meanwhile, or belongs to another user
  }
}
