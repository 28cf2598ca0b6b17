/** A data folder inside a test, and services started on it; both are gone when the test ends. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from './postgres.ts';
import { endEverything, mainCommand, type Service, startService } from './service.ts';

export interface Instance {
  readonly dataDir: string;
  start(settings?: Record<string, string>, command?: readonly [string, ...string[]]): Service;
}

/** A data folder that is not there yet, below a folder of its own. */
export function newInstance(t: TestContext, below = 'data'): Instance {
  const parent = temporaryFolder('process');
  const dataDir = join(parent, below);
  const services: Service[] = [];
  t.after(async () => {
    // All services first: one that still runs would start the database again that is ended here, for ever.
    for (const service of services) if (!service.hasEnded) await service.kill('SIGKILL');
    await endEverything(undefined, dataDir);
    rmSync(parent, { recursive: true, force: true });
  });
  return {
    dataDir,
    start: (settings = {}, command = mainCommand) => {
      const service = startService({ SLIPWAY_DATA_DIR: dataDir, ...settings }, command);
      services.push(service);
      return service;
    },
  };
}

/** The service refuses to start: exit code 1, and one sentence on standard error, which is returned. */
export async function refusal(service: Service): Promise<string> {
  assert.deepEqual(await service.ended, { code: 1, signal: null }, service.stdout + service.stderr);
  assert.match(service.stderr, /^Slipway: [^\n]+\.\n$/);
  assert.doesNotMatch(service.stdout, /is running at/);
  return service.stderr.slice('Slipway: '.length).trimEnd();
}
