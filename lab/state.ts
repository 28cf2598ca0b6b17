/** Which labs there are on this machine, and the removal of what a killed one has left. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeGroups } from './cgroups.ts';
import { attempt } from './command.ts';
import { hold } from './held-name.ts';
import { placementsOf, stateRoot, subnetOf } from './places.ts';
import { startOf } from './processes.ts';

interface Owner {
  readonly pid: number;
  readonly startedAt: string;
}

const ownerFile = 'owner.json';
const subnetFile = 'subnet';

/** Takes the name for this process, or says who has it. */
export function claim(name: string): void {
  const { dir } = placementsOf(name);
  if (existsSync(dir)) throw new Error(`The lab «${name}» is up already.`);
  const startedAt = startOf(process.pid);
  if (startedAt === undefined) throw new Error('this process has no start time');
  const owner: Owner = { pid: process.pid, startedAt };
  const half = join(stateRoot, `.new-${process.pid}`);
  mkdirSync(half, { recursive: true, mode: 0o700 });
  writeFileSync(join(half, ownerFile), JSON.stringify(owner));
  renameSync(half, dir);
}

export function noteSubnet(name: string, number: number): void {
  writeFileSync(join(placementsOf(name).dir, subnetFile), `${number}`);
}

/** Beside the folder, so that it is still there when a start has failed and the folder is gone. */
export function logFileOf(name: string): string {
  return join(stateRoot, `.${name}.log`);
}

export function labNames(): string[] {
  return existsSync(stateRoot) ? readdirSync(stateRoot).filter((name) => !name.startsWith('.')) : [];
}

/** The process that runs that lab, if it lives. */
export function ownerOf(name: string): Owner | undefined {
  const file = join(placementsOf(name).dir, ownerFile);
  if (!existsSync(file)) return undefined;
  const owner: Owner = JSON.parse(readFileSync(file, 'utf8'));
  return startOf(owner.pid) === owner.startedAt ? owner : undefined;
}

/**
 * Clears up after labs whose process is gone. Their interfaces, mounts and processes went with it; what is left are
 * folders, empty control groups and the route that keeps packets to it on this machine.
 */
export async function sweep(): Promise<string[]> {
  const held = await hold('sweep');
  try {
    const dead = labNames().filter((name) => ownerOf(name) === undefined);
    for (const name of dead) await forget(name);
    return dead;
  } finally {
    await held.release();
  }
}

export async function forget(name: string): Promise<void> {
  const { dir } = placementsOf(name);
  const file = join(dir, subnetFile);
  if (existsSync(file)) {
    const { cidr } = subnetOf(Number(readFileSync(file, 'utf8')));
    await attempt('ip', ['route', 'del', 'unreachable', cidr, 'metric', '4294967295']);
  }
  await removeGroups(name);
  rmSync(logFileOf(name), { force: true });
  rmSync(dir, { recursive: true, force: true });
}
