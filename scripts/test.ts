/**
 * `npm test`: the checks, then every test. One PostgreSQL of its own serves the whole run; each test file makes
 * its own database on it, so that files neither see nor wait for each other. Arguments name files to run alone.
 */
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { startTestPostgres } from '../test/support/postgres.ts';
import { root, runAll } from './commands.ts';

const named = process.argv.slice(2);
if (named.length === 0) runAll(['tsc', '-p', '.'], ['biome', 'ci', '--error-on-warnings', '.']);

const files =
  named.length > 0
    ? named
    : globSync(['src/**/*.test.ts', 'test/**/*.test.ts', 'lab/!(apps)/**/*.test.ts'], { cwd: root }).sort();
const postgres = await startTestPostgres();
const child = spawn(
  process.execPath,
  ['--test', '--test-concurrency=2', '--test-timeout=600000', '--test-reporter=spec', ...files],
  { cwd: root, stdio: 'inherit', env: { ...process.env, ...postgres.env } },
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
child.on('exit', async (code) => {
  await postgres.stop();
  process.exit(code ?? 1);
});
