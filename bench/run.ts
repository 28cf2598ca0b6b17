/**
 * `npm run bench [name …]`: measures, prints a table. With `--write`, and then always everything, the table becomes
 * docs/benchmarks.md. Each bench has a process of its own, so that one that fails or hangs takes none of the others
 * with it, and none measures the memory that another one left.
 */
import { fork, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { readArguments } from '../scripts/arguments.ts';
import { type Bench, benches } from './benches.ts';
import { median } from './figure.ts';
import { root } from './service.ts';
import { document, type Outcome, plainTable, type Result, type Run, summary } from './table.ts';

const longestMs = 30 * 60_000;

const options = { write: { type: 'boolean', default: false } } as const;
const usage = `Usage: npm run bench -- [--write] [<bench>…]; there is: ${Object.keys(benches).join(', ')}.`;
const { positionals: wanted, values } = readArguments({ allowPositionals: true, options }, usage);
const unknown = wanted.filter((name) => !(name in benches));
if (unknown.length > 0)
  refuse(`«${unknown.join(' ')}» is no bench; there is: ${Object.keys(benches).join(', ')}.`);
if (values.write && wanted.length > 0)
  refuse('`--write` writes the figures of one whole run: name no bench.');

const begun = Date.now();
const results: Result[] = [];
const counting: number[] = [];
const starting: number[] = [];
for (const [bench, { about, isCostly }] of Object.entries<Bench>(benches)) {
  if (wanted.length > 0 ? !wanted.includes(bench) : isCostly) continue;
  counting.push(countingSeconds());
  starting.push(startingMs());
  const since = Date.now();
  const outcome = await measure(bench);
  process.stderr.write(`${bench}: ${outcome.state}, ${((Date.now() - since) / 1_000).toFixed(0)} s\n`);
  results.push({ bench, about, outcome });
}

const run: Run = {
  date: new Date().toISOString().slice(0, 10),
  machine: `${distribution()}, ${process.arch}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`,
  node: process.version.slice(1),
  command: 'npm run bench -- --write',
  minutes: Math.round((Date.now() - begun) / 60_000),
  pace: `One core counted to 300 million in ${span(counting)} s, and started a process in ${span(starting)} ms`,
  results,
};
process.stdout.write(
  `\n${run.date}, ${run.machine}, Node ${run.node}. ${run.pace}\n\n${plainTable(results)}\n\n${summary(results)}\n`,
);
if (values.write) writeFileSync(join(root, 'docs/benchmarks.md'), document(run));
if (results.some(({ outcome }) => outcome.state === 'failed')) process.exitCode = 1;

function span(all: readonly number[]): string {
  return `${median(all).toFixed(2)} (${Math.min(...all).toFixed(2)} to ${Math.max(...all).toFixed(2)})`;
}

/** Yardsticks: the same machine may be half as fast on another day, in one or the other, and every figure in seconds with it. */
function countingSeconds(): number {
  const since = performance.now();
  let sum = 0;
  for (let each = 0; each < 3e8; each += 1) sum += each;
  if (sum === 0) throw new Error('Nothing was counted.');
  return (performance.now() - since) / 1_000;
}

function startingMs(): number {
  const times = Array.from({ length: 21 }, () => {
    const since = performance.now();
    spawnSync('true');
    return performance.now() - since;
  });
  return median(times);
}

function measure(bench: string): Promise<Outcome> {
  return new Promise((resolve) => {
    let told: Outcome | undefined;
    let isLate = false;
    const child = fork(join(root, 'bench/one.ts'), [bench], { cwd: root });
    const deadline = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, longestMs);
    child.once('message', (message: Outcome) => {
      told = message;
    });
    child.once('close', (code, signal) => {
      clearTimeout(deadline);
      const reason = isLate ? `not done in ${longestMs / 60_000} minutes` : `ended with ${signal ?? code}`;
      resolve(told ?? { state: 'failed', reason });
    });
  });
}

function distribution(): string {
  return /^PRETTY_NAME="(.*)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? process.platform;
}

function refuse(reason: string): never {
  process.stderr.write(`Bench: ${reason}\n`);
  process.exit(2);
}
