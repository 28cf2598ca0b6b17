import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startTestPostgres } from '../support/postgres.ts';
import { hangMs } from '../support/until.ts';

/** The addresses are the machine's own there, as if it had a private and a public one. */
const upAndRun = `ip link set lo up
for address in 10.77.0.1 198.18.7.1 8.8.8.8; do ip address add "$address/32" dev lo; done
exec "$@"`;

/** What the walk printed, once all of it has passed. */
async function walkWithoutWayOut(t: TestContext, file: string, tests: number): Promise<string> {
  const postgres = await startTestPostgres();
  t.after(() => postgres.stop());
  const walk = fileURLToPath(new URL(file, import.meta.url));
  // As root of a user namespace where this is not root's own: a network of one's own needs no more.
  const isolated = ['--net', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'])];
  const argv = [...isolated, 'sh', '-euc', upAndRun, 'sh', process.execPath, '--test-reporter=spec', walk];
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const result = spawnSync('unshare', argv, {
    encoding: 'utf8',
    timeout: hangMs,
    env: { ...env, ...postgres.env },
  });
  const said = `${result.stdout}${result.stderr}`;
  assert.equal(result.status, 0, said.slice(-4_000));
  assert.match(said, new RegExp(`pass ${tests}\\b`));
  return said;
}

test('every field that takes a URL is walked in a network without a way out, and nothing private is reached', async (t) => {
  const said = await walkWithoutWayOut(t, './ssrf-walk.ts', 1);
  for (const line of said.split('\n')) if (line.includes('take a URL')) t.diagnostic(line.trim());
});

test('whoever gives the machine of the service, or its network, as a server reaches nothing and learns nothing', async (t) => {
  await walkWithoutWayOut(t, './server-walk.ts', 2);
});
