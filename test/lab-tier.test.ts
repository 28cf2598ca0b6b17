import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { attempt } from '../lab/command.ts';
import { root } from '../scripts/commands.ts';

const isRoot = process.getuid?.() === 0;
/** A user who owns nothing: root is nobody inside a namespace of users that knows no root. */
const asNobody = ['unshare', '--user', process.execPath];
const without = (capabilities: string) => ['setpriv', `--bounding-set=${capabilities}`, process.execPath];

function run([program = '', ...before]: string[], ...args: string[]) {
  const { TEST_LAB: _, ...env } = process.env;
  return attempt('env', ['-i', `PATH=${env.PATH}`, `HOME=${env.HOME ?? '/'}`, program, ...before, ...args]);
}

const lab = join(root, 'lab/lab.ts');
const runner = join(root, 'scripts/test.ts');
const labTest = 'test/long/servers.test.ts';

test('an ordinary user is told what the lab needs', { skip: !isRoot && 'needs root' }, async () => {
  const outcome = await run(asNobody, lab, 'up');
  assert.equal(outcome.code, 1);
  assert.match(outcome.stderr, /^Lab: the lab .* has to be started as root \(sudo npm run lab -- up\)\.\n$/);
  assert.equal(outcome.stdout, '');
});

test('root without the powers of root is told which are missing', {
  skip: !isRoot && 'needs root',
}, async () => {
  const outcome = await run(without('-net_admin,-sys_admin'), lab, 'up');
  assert.equal(outcome.code, 1);
  assert.match(outcome.stderr, /^Lab: root here lacks the capabilities net_admin and sys_admin/);
});

test('where the lab cannot run, the test run says in one line what it leaves out, and passes', async () => {
  const outcome = await run(asNobody, runner, labTest);
  assert.deepEqual([outcome.code, outcome.stdout], [0, '']);
  assert.match(outcome.stderr, /^Left out: the 1 test files that need the lab, because .*\n$/);
});

test('with SLIPWAY_LAB=require, leaving the lab out is a failure', async () => {
  const outcome = await run(['env', 'SLIPWAY_LAB=require', ...asNobody], runner, labTest);
  assert.equal(outcome.code, 1);
  assert.match(outcome.stderr, /SLIPWAY_LAB=require makes that a failure\.\n$/);
});

test('a command that the lab does not have is refused, and help needs no powers', async () => {
  const help = await run(asNobody, lab);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /npm run lab -- up/);
  const wrong = await run([process.execPath], lab, 'explode');
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /^Lab: /);
});
