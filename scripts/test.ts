/**
 * `npm test`: the checks, then every test. One PostgreSQL of its own serves the whole run; each test file makes
 * its own database on it, so that files neither see nor wait for each other. Tests in `test/lab` and `test/story` share one lab of
 * real servers, where the machine can run it. Arguments name files to run alone; `--long` runs `test/long` instead, the
 * proofs that take longer than anyone waits for before a commit.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { type BoundLab, launchBound } from '../lab/launch.ts';
import { whyNot } from '../lab/needs.ts';
import { Progress } from '../lab/progress.ts';
import { startTestPostgres } from '../test/support/postgres.ts';
import { root, runAll } from './commands.ts';

/** Where more than these fail, something is wrong, and not only slow. */
const mostAgain = 4;
const isLong = process.argv[2] === '--long';
const named = isLong ? [] : process.argv.slice(2);
if (named.length === 0 && !isLong) runAll(['tsc', '-p', '.'], ['biome', 'ci', '--error-on-warnings', '.']);

const short = ['src/**/*.test.ts', 'test/!(long)/**/*.test.ts', 'test/*.test.ts', 'lab/!(apps)/**/*.test.ts'];
const patterns = isLong ? ['test/long/*.test.ts'] : short;
const wanted = named.length > 0 ? named : globSync(patterns, { cwd: root }).sort();
const needsLab = (file: string) => /(^|\/)test\/(lab|long|story)\//.test(file);
const reason = wanted.some(needsLab) ? whyNot() : undefined;
const files = reason ? wanted.filter((file) => !needsLab(file)) : wanted;
if (reason) {
  const left = wanted.length - files.length;
  process.stderr.write(`Left out: the ${left} test files that need the lab, because ${reason}.\n`);
  if (process.env.SLIPWAY_LAB === 'require') {
    process.stderr.write('SLIPWAY_LAB=require makes that a failure.\n');
    process.exit(1);
  }
  if (files.length === 0) process.exit(0);
}

const postgres = await startTestPostgres();
const lab = files.some(needsLab) ? await startLab() : undefined;
const env = { ...process.env, ...postgres.env, ...(lab && { TEST_LAB: lab.about.control }) };
let child: ChildProcess | undefined;
let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isStopped = true;
    child?.kill(signal);
  });
}
const scratch = mkdtempSync(join(tmpdir(), 'slipway-test-run-'));
try {
  process.exitCode = await runAndLookAgain();
} finally {
  rmSync(scratch, { recursive: true });
  await Promise.all([postgres.stop(), lab?.end()]);
}

/**
 * Files that failed beside others are tried once more, alone: on a busy machine a limit of time may have passed that
 * says nothing about the code. One that passes then is told as unsteady, which is a defect of its own.
 */
async function runAndLookAgain(): Promise<number> {
  const first = await run(files, 3);
  if (first.code === 0 || isStopped || files.length === 1) return first.code;
  if (first.failed.length === 0 || first.failed.length > mostAgain) return first.code;
  process.stdout.write(`\nOnce more, alone: ${first.failed.join(', ')}\n`);
  const second = await run(first.failed, 1);
  const steady = new Set(second.failed);
  const unsteady = first.failed.filter((file) => !steady.has(file));
  if (unsteady.length > 0)
    process.stdout.write(`\nUnsteady, failed beside the others and passed alone: ${unsteady.join(', ')}\n`);
  return second.code;
}

async function run(
  some: readonly string[],
  concurrency: number,
): Promise<{ code: number; failed: string[] }> {
  const told = join(scratch, `failed-${concurrency}`);
  const reporters = ['--test-reporter=spec', '--test-reporter-destination=stdout'];
  reporters.push('--test-reporter=./scripts/failed-files.ts', `--test-reporter-destination=${told}`);
  const limits = [`--test-concurrency=${concurrency}`, '--test-timeout=600000'];
  child = spawn(process.execPath, ['--test', ...limits, ...reporters, ...some], {
    ...{ cwd: root, stdio: 'inherit', env },
  });
  const [code] = await once(child, 'exit');
  const lines = readFileSync(told, 'utf8').split('\n').filter(Boolean);
  return { code: Number(code ?? 1), failed: [...new Set(lines)].map((file) => relative(root, file)) };
}

/** Bound to this process: were we killed, it would end and clear up by itself. */
async function startLab(): Promise<BoundLab> {
  try {
    return await launchBound(`test-${process.pid}`, ['docker', 'docker'], new Progress());
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}
