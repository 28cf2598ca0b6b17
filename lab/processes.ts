/** Looking at processes of this machine by what the kernel says of them. */
import { readdirSync, readFileSync } from 'node:fs';

export function childrenOf(parent: number): number[] {
  try {
    const tasks = readdirSync(`/proc/${parent}/task`);
    return tasks.flatMap((task) =>
      readFileSync(`/proc/${parent}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return []; // it has ended meanwhile, and has none
  }
}

export function nameOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined; // it has ended meanwhile
  }
}

/** When it was started, so that another one with the same number is not mistaken for it; undefined if it is gone. */
export function startOf(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined; // it has ended meanwhile
  }
}
