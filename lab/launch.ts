/** Starting and stopping a lab: the machine made ready, the supervisor started, and waited for. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { prepare } from './build/prepare.ts';
import { ended } from './command.ts';
import { type LabDescription, readLab } from './description.ts';
import { placementsOf, stateRoot } from './places.ts';
import { startOf } from './processes.ts';
import type { Progress } from './progress.ts';
import type { VariantName } from './servers/variants.ts';
import { logFileOf, ownerOf, sweep } from './state.ts';

const supervisor = join(dirname(fileURLToPath(import.meta.url)), 'supervisor.ts');

/** Starts a lab that lives on when this process is gone. */
export async function launch(
  name: string,
  servers: readonly VariantName[],
  progress: Progress,
): Promise<LabDescription> {
  return (await start(name, servers, progress, false)).about;
}

export interface BoundLab {
  readonly about: LabDescription;
  end(): Promise<void>;
}

/** Starts a lab that ends when it is told to, and in any case when this process does. */
export async function launchBound(
  name: string,
  servers: readonly VariantName[],
  progress: Progress,
): Promise<BoundLab> {
  const { about, child } = await start(name, servers, progress, true);
  return {
    about,
    end: async () => {
      // Until now it kept nobody from ending; now its end is waited for.
      child.ref();
      child.stdin?.end();
      await ended(child);
    },
  };
}

async function start(
  name: string,
  servers: readonly VariantName[],
  progress: Progress,
  bound: boolean,
): Promise<{ about: LabDescription; child: ChildProcess }> {
  for (const dead of await sweep()) progress.say(`Cleared up after the lab «${dead}», which was killed.`);
  await prepare(progress, servers);
  return progress.step(`Lab «${name}»`, async () => {
    mkdirSync(stateRoot, { recursive: true, mode: 0o700 });
    const output = openSync(logFileOf(name), 'w+', 0o600);
    const args = [supervisor, name, servers.join(','), ...(bound ? ['bound'] : [])];
    const child = spawn(process.execPath, args, {
      stdio: [bound ? 'pipe' : 'ignore', output, output],
      detached: true,
    });
    try {
      for (;;) {
        const about = readLab(name);
        if (about && about.pid === child.pid) {
          child.unref();
          return { about, child };
        }
        if (child.exitCode !== null || child.signalCode !== null) {
          // By its number: a lab that failed has cleared up, its log too.
          const said = readFileSync(`/proc/self/fd/${output}`, 'utf8').trim();
          throw new Error(`The lab did not start:\n${said}`);
        }
        await sleep(20);
      }
    } finally {
      closeSync(output);
    }
  });
}

/** Stops it if it runs, and clears up after it if it was killed. Says whether there was anything to do. */
export async function takeDown(name: string): Promise<boolean> {
  const owner = ownerOf(name);
  if (owner) {
    process.kill(owner.pid, 'SIGTERM');
    const deadline = Date.now() + 30_000;
    while (startOf(owner.pid) === owner.startedAt) {
      if (Date.now() > deadline) process.kill(owner.pid, 'SIGKILL');
      await sleep(20);
    }
  }
  const wasThere = owner !== undefined || existsSync(placementsOf(name).dir);
  await sweep();
  return wasThere;
}
