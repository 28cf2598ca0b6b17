/**
 * What is to happen at which write of a deployment's journal. An order is a file that is named after the write, in a
 * folder that all processes of the service share; whoever takes the file away carries it out, so it happens once.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JournalHook } from '../../src/operations/journal.ts';
import { temporaryFolder } from '../support/postgres.ts';
import { until } from '../support/until.ts';

export interface Point {
  readonly moment: 'before' | 'after';
  readonly entry: string;
}

/** Die; stand still until someone wakes the process; wait a moment for the parent to act; or only say so. */
export type Act = 'kill' | 'stall' | 'wait' | 'tell';

/** Shorter than a lease: who waits must not lose it. */
const longestWaitMs = 1_500;

export class Orders {
  readonly folder = temporaryFolder('orders');

  constructor() {
    for (const each of ['given', 'met']) mkdirSync(join(this.folder, each));
  }

  give(point: Point, act: Act): void {
    writeFileSync(join(this.folder, 'given', nameOf(point)), act);
  }

  /** When somebody has come there. */
  async met(point: Point, withinMs: number): Promise<{ readonly pid: number }> {
    const file = join(this.folder, 'met', nameOf(point));
    const said = await until(
      () => (existsSync(file) ? readFileSync(file, 'utf8') || undefined : undefined),
      `the deployment to come to ${point.moment} «${point.entry}»`,
      withinMs,
    );
    return { pid: Number(said) };
  }

  /** Lets the one go who waits there. */
  letGo(point: Point): void {
    rmSync(join(this.folder, 'met', nameOf(point)), { force: true });
  }

  /** What nobody has come to. */
  left(): string[] {
    return readdirSync(join(this.folder, 'given'));
  }

  /** Takes back what nobody came to. */
  clear(): void {
    for (const folder of ['given', 'met'])
      for (const each of readdirSync(join(this.folder, folder))) rmSync(join(this.folder, folder, each));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** In a process of the service: single writes are those of operations of these kinds. */
export function obey(folder: string, kinds: readonly string[]): JournalHook {
  return (moment, entry, operation) => {
    if (kinds.includes(operation.kind)) obeyOne(folder, nameOf({ moment, entry }));
    obeyOne(folder, nameOf({ moment, entry: anyOf(operation.kind) }));
  };
}

/** Whichever write an operation of that kind comes to next. */
export function anyOf(kind: string): string {
  return `any of ${kind}`;
}

function obeyOne(folder: string, name: string): void {
  const [given, mine, met] = [
    join(folder, 'given', name),
    join(folder, `${process.pid}`),
    join(folder, 'met', name),
  ];
  if (!existsSync(given)) return;
  try {
    renameSync(given, mine);
  } catch {
    // Another process was first.
    return;
  }
  const act = readFileSync(mine, 'utf8');
  writeFileSync(mine, `${process.pid}`);
  renameSync(mine, met);
  if (act === 'kill') process.kill(process.pid, 'SIGKILL');
  if (act === 'stall') process.kill(process.pid, 'SIGSTOP');
  if (act === 'wait') waitWhile(met);
}

function waitWhile(file: string): void {
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  const deadline = Date.now() + longestWaitMs;
  while (existsSync(file) && Date.now() < deadline) Atomics.wait(nobody, 0, 0, 10);
}

function nameOf({ moment, entry }: Point): string {
  return `${moment} ${entry}`;
}
