/** An upload of about 2 GB of SQL through the API into a PostgreSQL on a lab server: how long, and what it costs us in memory. */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../lab/command.ts';
import { whyNot } from '../lab/needs.ts';
import { withDatabase } from './backup.ts';
import { benchApp } from './deploy.ts';
import { DeployBench } from './deploy-scene.ts';
import { type Figure, LeftOut, megabytes, megabytesPerSecond, secondsOf } from './figure.ts';

const size = 2_048;

export async function benchImport(): Promise<Figure[]> {
  const reason = whyNot();
  if (reason) throw new LeftOut(reason);
  const folder = mkdtempSync(join(tmpdir(), 'slipway-bench-import-'));
  const bench = await DeployBench.start();
  try {
    const app = join(folder, 'app');
    await run('mkdir', ['-p', app]);
    for (const [name, content] of Object.entries(benchApp)) writeFileSync(join(app, name), content);
    const environmentId = await bench.environment('imported', app, { healthPath: '/', drainSeconds: 1 });
    await withDatabase(bench, environmentId);
    const file = join(folder, 'large.sql');
    writeLarge(file);
    return await importLarge(bench, environmentId, file);
  } finally {
    await bench.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function importLarge(bench: DeployBench, environmentId: string, file: string): Promise<Figure[]> {
  const memory = { before: process.memoryUsage().rss, most: 0 };
  const watch = setInterval(() => {
    memory.most = Math.max(memory.most, process.memoryUsage().rss);
  }, 20);
  const begun = performance.now();
  // By a program of its own: what the sender keeps is not ours.
  const started = await bench.upload(`/environments/${environmentId}/backups/import`, file);
  const uploadMs = performance.now() - begun;
  const id = String(started.operationId ?? started.id);
  for (;;) {
    const { status, fault } = await bench.call('GET', `/operations/${id}`);
    if (status === 'failed' || status === 'cancelled') throw new Error(JSON.stringify(fault));
    if (status === 'succeeded') break;
    await sleep(100);
  }
  clearInterval(watch);
  const wholeMs = performance.now() - begun;
  return [
    { what: `upload of ${size} MB`, slipway: megabytesPerSecond((size * 2 ** 20) / 1_000 / uploadMs) },
    { what: 'from the first byte to the application being back', slipway: secondsOf(wholeMs) },
    {
      what: 'growth of the service’s memory over it',
      slipway: megabytes(Math.max(0, memory.most - memory.before) / 2 ** 20),
    },
  ];
}

function writeLarge(path: string): void {
  const file = openSync(path, 'w');
  writeSync(file, 'create table large (id bigint, text text);\ncopy large from stdin;\n');
  const text = 'some words that come again and again, as they do in what people keep '.repeat(3);
  const atOnce = 4_000;
  for (let [id, written] = [0, 0]; written < size * 2 ** 20; id += atOnce) {
    const lines = Array.from({ length: atOnce }, (_, at) => `${id + at}\t${(id + at) * 7919} ${text}\n`).join(
      '',
    );
    written += writeSync(file, lines);
  }
  writeSync(file, '\\.\n');
  closeSync(file);
}
