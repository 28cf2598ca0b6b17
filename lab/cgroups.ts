/** A control group of its own for each server, in every hierarchy the machine has, and none left behind. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

interface Hierarchy {
  readonly folder: string;
  readonly version: 1 | 2;
}

function hierarchies(): Hierarchy[] {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  return mounts.flatMap((line): Hierarchy[] => {
    const [, folder = '', type] = line.split(' ');
    if (type === 'cgroup') return [{ folder, version: 1 }];
    if (type === 'cgroup2') return [{ folder, version: 2 }];
    return [];
  });
}

function groupName(lab: string): string {
  return `slipway-lab-${lab}`;
}

/** Makes them, and gives the files that a process writes its id to in order to join. */
export function makeServerGroups(lab: string, server: string): string[] {
  return hierarchies().map((hierarchy) => {
    const above = join(hierarchy.folder, groupName(lab));
    const group = join(above, server);
    for (const each of [above, group]) {
      if (!existsSync(each)) mkdirSync(each);
      prepare(each, hierarchy);
    }
    return join(group, 'cgroup.procs');
  });
}

function prepare(group: string, { folder, version }: Hierarchy): void {
  if (version === 1) {
    // A cpuset without processors takes no process.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      if (existsSync(join(group, file))) {
        writeFileSync(join(group, file), readFileSync(join(folder, file)));
        writeFileSync(join(group, 'cgroup.clone_children'), '1');
      }
    }
    return;
  }
  const above = join(group, '..');
  const offered = readFileSync(join(above, 'cgroup.controllers'), 'utf8').trim().split(' ').filter(Boolean);
  if (offered.length > 0) {
    writeFileSync(join(above, 'cgroup.subtree_control'), offered.map((each) => `+${each}`).join(' '));
  }
}

/** Removes a lab's groups, or one server's. The processes in them are being ended; the kernel needs a moment. */
export async function removeGroups(lab: string, server = ''): Promise<void> {
  for (const { folder } of hierarchies()) {
    const top = join(folder, groupName(lab), server);
    const deadline = Date.now() + 5_000;
    while (existsSync(top)) {
      if (removeBottomUp(top)) break;
      if (Date.now() > deadline) throw new Error(`the control group ${top} still has processes`);
      await sleep(20);
    }
  }
}

function removeBottomUp(group: string): boolean {
  try {
    for (const entry of readdirSync(group, { withFileTypes: true })) {
      if (entry.isDirectory() && !removeBottomUp(join(group, entry.name))) return false;
    }
    rmdirSync(group);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EBUSY') return false;
    if (code === 'ENOENT') return true;
    throw error;
  }
}
