/**
 * `npm test`: the checks, then every test. One PostgreSQL of its own serves the whole run; each test file makes
 * its own database on it, so that files neither see nor wait for each other. Tests in `test/lab` and `test/story` share one lab of
 * real servers, where the machine can run it. Arguments name files to run alone; `--long` runs `test/long` instead, the
 * proofs that take longer than anyone waits for before a commit.
 */
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { type BoundLab, launchBound } from '../lab/launch.ts';
import { whyNot } from '../lab/needs.ts';
import { Progress } from '../lab/progress.ts';
import { startTestPostgres } from '../test/support/postgres.ts';
import { root, runAll } from './commands.ts';

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
const child = spawn(
  process.execPath,
  ['--test', '--test-concurrency=3', '--test-timeout=600000', '--test-reporter=spec', ...files],
  { cwd: root, stdio: 'inherit', env },
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
child.on('exit', async (code) => {
  await Promise.all([postgres.stop(), lab?.end()]);
  process.exit(code ?? 1);
});

/** Bound to this process: were we killed, it would end and clear up by itself. */
async function startLab(): Promise<BoundLab> {
  try {
    return await launchBound(`test-${process.pid}`, ['docker', 'docker'], new Progress());
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}
