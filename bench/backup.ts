/**
 * A dump of a PostgreSQL of about 1 GB through Slipway, to its local folder, beside what a person would type:
 * `ssh server 'docker exec … pg_dump | zstd' > file`. In turns, in one run, with the service's memory watched.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ended, run } from '../lab/command.ts';
import { whyNot } from '../lab/needs.ts';
import { benchApp } from './deploy.ts';
import { DeployBench } from './deploy-scene.ts';
import { type Figure, LeftOut, median, megabytes, megabytesPerSecond, secondsOf } from './figure.ts';
import { openMaster } from './remote.ts';

const rounds = 3;
const rows = 4_600_000;

/** About as easy to compress as what people keep: ids, words, numbers and times. */
const fill = `
create table bench (id bigint primary key, name text, note text, price numeric, at timestamptz, tags jsonb);
insert into bench select i, 'customer ' || i % 100000, md5(i::text) || ' ' || md5((i * 7)::text) || ' and some words that come again',
  (i % 10000) / 100.0, timestamptz '2026-01-01' + i * interval '1 second', jsonb_build_object('kind', i % 17, 'code', md5((i % 5000)::text))
from generate_series(1, ${rows}) i;
analyze;`;

export async function benchBackup(): Promise<Figure[]> {
  const reason = whyNot();
  if (reason) throw new LeftOut(reason);
  const folder = mkdtempSync(join(tmpdir(), 'slipway-bench-backup-'));
  const bench = await DeployBench.start();
  const master = await openMaster(bench.lab, bench.server, join(folder, 'control'));
  try {
    const app = join(folder, 'app');
    await run('mkdir', ['-p', app]);
    for (const [name, content] of Object.entries(benchApp)) writeFileSync(join(app, name), content);
    const environmentId = await bench.environment('kept', app, { healthPath: '/', drainSeconds: 1 });
    const container = await withDatabase(bench, environmentId);
    await run('ssh', [...master.ssh, `docker exec -i ${container} psql -q -U app app`], { input: fill });
    await run('ssh', [...master.ssh, 'apt-get install -y -qq zstd >/dev/null 2>&1']);
    return await compare(bench, environmentId, container, master.ssh, folder);
  } finally {
    await master.end();
    await bench.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Beside the application; the name of its container. */
export async function withDatabase(bench: Pick<DeployBench, 'call'>, environmentId: string): Promise<string> {
  const path = `/environments/${environmentId}`;
  await bench.call('POST', `${path}/services`, { services: [{ kind: 'postgres', memoryMb: 1_024 }] });
  for (;;) {
    const { items } = await bench.call('GET', `${path}/services`);
    const [service] = Array.from(Object(items), (each) => Object(each));
    if (service?.status === 'failed') throw new Error(JSON.stringify(service));
    if (service?.status === 'running') {
      await bench.call('PATCH', `${path}/backups/config`, { verify: false });
      return `slipway-${service.id}`;
    }
    await sleep(100);
  }
}

async function compare(
  bench: DeployBench,
  environmentId: string,
  container: string,
  ssh: readonly string[],
  folder: string,
): Promise<Figure[]> {
  const [ours, theirs]: [number[], number[]] = [[], []];
  const memory = { before: 0, most: 0 };
  const sizes = { raw: 0, ours: 0, hand: 0 };
  memory.before = process.memoryUsage().rss;
  const watch = setInterval(() => {
    memory.most = Math.max(memory.most, process.memoryUsage().rss);
  }, 20);
  // The first time, code is read and the server's disk is cold.
  await backUp(bench, environmentId);
  for (let round = 0; round < rounds; round += 1) {
    const { ms, sizeBytes, rawBytes } = await backUp(bench, environmentId);
    ours.push(ms);
    const file = join(folder, `hand-${round}`);
    theirs.push(await byHand(ssh, container, file));
    Object.assign(sizes, { raw: rawBytes, ours: sizeBytes, hand: statSync(file).size });
    rmSync(file);
  }
  clearInterval(watch);
  const name = 'by hand over ssh';
  const [mine, hand] = [median(ours), median(theirs)];
  const rate = (ms: number) => megabytesPerSecond(sizes.raw / 1_000 / ms);
  const size = (bytes: number) => megabytes(bytes / 2 ** 20);
  return [
    { what: 'what was dumped', slipway: size(sizes.raw) },
    { what: 'what is stored of it', slipway: size(sizes.ours), beside: { name, amount: size(sizes.hand) } },
    { what: 'from the call to the end', slipway: secondsOf(mine), beside: { name, amount: secondsOf(hand) } },
    { what: 'rate', slipway: rate(mine), beside: { name, amount: rate(hand) }, aim: { ratioAtLeast: 0.95 } },
    {
      what: 'growth of the service’s memory',
      slipway: size(Math.max(0, memory.most - memory.before)),
      aim: { atMost: 64 },
    },
  ];
}

export async function backUp(bench: Pick<DeployBench, 'call' | 'follow'>, environmentId: string) {
  const path = `/environments/${environmentId}/backups`;
  const begun = performance.now();
  const { id, operationId } = await bench.call('POST', `${path}/trigger`, {});
  await bench.follow(`/operations/${operationId}/events`);
  const ms = performance.now() - begun;
  const { status, fault, sizeBytes, parts } = await bench.call('GET', `${path}/${id}`);
  if (status !== 'succeeded') throw new Error(JSON.stringify(fault));
  return { ms, sizeBytes: Number(sizeBytes), rawBytes: Number(Object(Object(parts)[0]).rawBytes) };
}

async function byHand(ssh: readonly string[], container: string, file: string): Promise<number> {
  const begun = performance.now();
  const command = `docker exec ${container} pg_dump -U app -Fc -Z0 app | zstd -3`;
  const child = spawn('ssh', [...ssh, command], { stdio: ['ignore', openSync(file, 'w'), 'inherit'] });
  await ended(child);
  return performance.now() - begun;
}
