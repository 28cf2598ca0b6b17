import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { attempt, type Outcome } from '../../lab/command.ts';
import { type LabDescription, readLab } from '../../lab/description.ts';
import { placementsOf } from '../../lab/places.ts';
import { startOf } from '../../lab/processes.ts';
import { root } from '../../scripts/commands.ts';
import { openLab } from '../support/lab.ts';
import { machineState } from '../support/machine.ts';
import { signal } from '../support/service.ts';
import { until } from '../support/until.ts';

const shared = (await openLab()).about.name;

/** The command line, on a lab of the test's own; whatever the test does, it is down afterwards. */
function commandLine(t: TestContext): { name: string; lab(...args: string[]): Promise<Outcome> } {
  const name = `trace-${process.pid}`;
  const lab = (...args: string[]) =>
    attempt(process.execPath, [join(root, 'lab/lab.ts'), '--name', name, ...args], { timeoutMs: 120_000 });
  t.after(() => lab('down'));
  return { name, lab };
}

async function up(lab: (...args: string[]) => Promise<Outcome>): Promise<LabDescription> {
  const outcome = await lab('up', '--servers', '1', '--json');
  assert.equal(outcome.code, 0, outcome.stderr);
  return JSON.parse(outcome.stdout);
}

/** Everything that was there is there, and nothing else; the kernel takes a namespace apart in its own time. */
async function assertUnchanged(before: Awaited<ReturnType<typeof machineState>>): Promise<void> {
  const same = async () => JSON.stringify(await machineState(shared)) === JSON.stringify(before);
  await until(same, 'the machine to be as before').catch(() => undefined);
  const after = await machineState(shared);
  for (const [what, is] of Object.entries(after)) {
    assert.deepEqual(is, Object.entries(before).find(([name]) => name === what)?.[1], what);
  }
}

test('`down` leaves links, routes, mounts, firewall, control groups, namespaces and processes as before `up`', async (t) => {
  const { name, lab } = commandLine(t);
  const before = await machineState(shared);
  const about = await up(lab);
  assert.notDeepEqual(await machineState(shared), before);
  const [server] = about.servers;
  assert.ok(server);
  // Containers are the hardest to clear up: they bring mounts, namespaces and rules of their own.
  const started = await lab(
    'ssh',
    server.name,
    'docker run --detach --publish 80:80 nginx && docker ps --quiet',
  );
  assert.equal(started.code, 0, started.stderr);
  const down = await lab('down');
  assert.deepEqual([down.code, down.stdout], [0, `Lab «${name}» is down.\n`]);
  await assertUnchanged(before);
  assert.equal(existsSync(placementsOf(name).dir), false);
});

test('after a `kill -9` of the lab, `up` works again, and `down` then leaves the machine as before', async (t) => {
  const { name, lab } = commandLine(t);
  const before = await machineState(shared);
  const killed = await up(lab);
  signal(killed.pid, 'SIGKILL');
  await until(() => startOf(killed.pid) !== killed.startedAt, 'the lab to be dead');
  assert.equal(readLab(name), undefined);
  const again = await up(lab);
  assert.notEqual(again.pid, killed.pid);
  assert.equal((await lab('ssh', 's1', 'true')).code, 0);
  assert.equal((await lab('down')).code, 0);
  await assertUnchanged(before);
});

test('after a `kill -9` of the lab, `down` alone clears up', async (t) => {
  const { lab } = commandLine(t);
  const before = await machineState(shared);
  const killed = await up(lab);
  signal(killed.pid, 'SIGKILL');
  await until(() => startOf(killed.pid) !== killed.startedAt, 'the lab to be dead');
  assert.equal((await lab('down')).code, 0);
  await assertUnchanged(before);
});

test('two labs at the same time have nothing in common, and `up` on a lab that is up says what is there', async (t) => {
  const { lab } = commandLine(t);
  const other = (await openLab()).about;
  const about = await up(lab);
  assert.notEqual(about.cidr, other.cidr);
  assert.notEqual(about.git.token, other.git.token);
  assert.deepEqual(await up(lab), about);
  // Each has its own `s1`.
  assert.notDeepEqual(
    about.servers.find(({ name }) => name === 's1')?.hostKeys,
    other.servers.find(({ name }) => name === 's1')?.hostKeys,
  );
  assert.match((await lab('status')).stdout, new RegExp(`${about.cidr}`));
});
