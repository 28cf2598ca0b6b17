/**
 * `npm run analysis-fuzz -- --trees 10000 --seed 1`: hostile repositories against the analysis of a real service, while
 * another process asks `/healthz` all the time. Fails where a tree ends in anything but a result or a fault that says
 * why, and where the service was busy so long in one go that others would notice. `--only 4711` repeats one tree.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readArguments } from '../../scripts/arguments.ts';
import type { Outcome } from './attempt.ts';
import type { Order, Report } from './service.ts';

const options = {
  trees: { type: 'string', default: '10000' },
  seed: { type: 'string', default: '1' },
  only: { type: 'string' },
  cpu: { type: 'string', default: '2000' },
} as const;
const usage =
  'Usage: npm run analysis-fuzz -- [--trees <how many>] [--seed <whole number>] [--only <number>] [--cpu <ms>]';
const { values } = readArguments({ options }, usage);
const [trees, seed, cpuMs] = [Number(values.trees), Number(values.seed), Number(values.cpu)];
if (![trees, seed, cpuMs].every((each) => Number.isInteger(each) && each > 0)) {
  process.stderr.write(`${usage}\n`);
  process.exit(1);
}
const numbers = values.only === undefined ? [...Array(trees).keys()] : [Number(values.only)];

/** What others may notice. */
const mostMs = 100;
const counts: Record<Outcome['kind'], number> = { result: 0, stopped: 0, refused: 0, failed: 0 };
const broken = new Map<string, number>();
const health = { asked: 0, longestMs: 0, late: 0, failed: 0 };
let longestBusyMs = 0;
let isOver = false;

const started = performance.now();
const service = fork(join(import.meta.dirname, 'service.ts'));
process.on('exit', () => service.kill('SIGKILL'));
// What was found until then is told; the service sees the end of its channel.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => service.disconnect());
const ended = new Promise<number | null>((resolve) => service.once('exit', resolve));
service.on('message', (report: Report) => {
  if (report.kind === 'ready') void askHealth(`${report.url}/healthz`);
  else if (report.kind === 'loop') longestBusyMs = Math.max(longestBusyMs, report.busyMs);
  else if (report.kind === 'outcome') take(report.outcome);
  else isOver = true;
});
service.send({ seed, numbers, cpuMs } satisfies Order);
const exitCode = await ended;

const seconds = (performance.now() - started) / 1_000;
const ms = (value: number) => `${value.toFixed(0)} ms`;
process.stdout.write(`
Seed ${seed}: ${done()} of ${numbers.length} trees in ${(seconds / 60).toFixed(1)} minutes, of ${ms(cpuMs)} of processor time each at most
${counts.result} results, ${counts.stopped} stopped at a limit, ${counts.refused} refused, ${counts.failed} failed
/healthz asked ${health.asked} times: ${ms(health.longestMs)} at most, ${health.late} over ${mostMs} ms, ${health.failed} without an answer
The service was busy for ${ms(longestBusyMs)} in one go at most, of its own processor time
`);
for (const [message, count] of broken)
  process.stdout.write(`A detector broke in ${count} trees: ${message}\n`);
if (health.late > 0 && longestBusyMs < mostMs)
  process.stdout.write('Late answers were the machine’s: the service had not been busy.\n');
const isWrong =
  done() < numbers.length ||
  counts.failed > 0 ||
  health.failed > 0 ||
  longestBusyMs >= mostMs ||
  exitCode !== 0;
process.exitCode = isWrong ? 1 : 0;

function take({ number, kind, said, broken: detectors }: Outcome): void {
  counts[kind] += 1;
  for (const message of detectors) broken.set(message, (broken.get(message) ?? 0) + 1);
  const again = `--seed ${seed} --only ${number}`;
  if (kind === 'failed') process.stderr.write(`Failed (${again}): ${said}\n`);
  if (values.only !== undefined) process.stdout.write(`${kind} ${said}\n`);
  for (const message of detectors) process.stdout.write(`A detector broke (${again}): ${message}\n`);
  if (done() % 500 === 0) process.stdout.write(`${done()} of ${numbers.length}: ${JSON.stringify(counts)}\n`);
}

function done(): number {
  return Object.values(counts).reduce((sum, each) => sum + each, 0);
}

async function askHealth(url: string): Promise<void> {
  // What the first `fetch` of a process costs is no wait for the service.
  await fetch(await nobody()).catch(() => undefined);
  while (!isOver) {
    const before = performance.now();
    const isFine = await fetch(url).then(
      async (answer) => (await answer.arrayBuffer()) && answer.ok,
      () => false,
    );
    const tookMs = performance.now() - before;
    if (isOver || !service.connected) return;
    health.asked += 1;
    health.longestMs = Math.max(health.longestMs, tookMs);
    if (tookMs > mostMs) health.late += 1;
    if (!isFine) health.failed += 1;
    await sleep(5);
  }
}

/** An address where nothing listens. */
async function nobody(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = Object(server.address());
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
