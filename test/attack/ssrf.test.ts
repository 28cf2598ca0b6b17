import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startTestPostgres } from '../support/postgres.ts';

const upAndRun = 'ip link set lo up; exec "$@"';

test('every field that takes a URL is walked in a network without a way out, and nothing private is reached', async (t) => {
  const postgres = await startTestPostgres();
  t.after(() => postgres.stop());
  const walk = fileURLToPath(new URL('./ssrf-walk.ts', import.meta.url));
  // As root of a user namespace where this is not root's own: a network of one's own needs no more.
  const isolated = ['--net', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'])];
  const argv = [...isolated, 'sh', '-euc', upAndRun, 'sh', process.execPath, '--test-reporter=spec', walk];
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const result = spawnSync('unshare', argv, {
    encoding: 'utf8',
    timeout: 240_000,
    env: { ...env, ...postgres.env },
  });
  const said = `${result.stdout}${result.stderr}`;
  assert.equal(result.status, 0, said.slice(-4_000));
  for (const line of said.split('\n')) if (line.includes('take a URL')) t.diagnostic(line.trim());
  assert.match(said, /pass 1/);
});
