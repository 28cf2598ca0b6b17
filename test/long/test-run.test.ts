import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { attempt, type Outcome } from '../../lab/command.ts';
import { root } from '../../scripts/commands.ts';
import { allFiles, planUnits } from '../../scripts/testing/plan.ts';
import { temporaryFolder } from '../support/postgres.ts';

const folder = temporaryFolder('run');
const good = `import { test } from 'node:test'; test('good', () => undefined); test('left', { skip: 'it rains' }, () => undefined);`;
const bad = `import { test } from 'node:test'; test('bad', () => { throw new Error('as always'); });`;
/** Fails when it is run for the first time. */
const unsteady = (name: string) => `
import { existsSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
test('unsteady', () => {
  const isAgain = existsSync('${folder}/${name}');
  writeFileSync('${folder}/${name}', '');
  if (!isAgain) throw new Error('the first time');
});`;

function run(...files: [name: string, text: string][]): Promise<Outcome> {
  return runWith([], ...files);
}

function runWith(options: readonly string[], ...files: [name: string, text: string][]): Promise<Outcome> {
  const paths = files.map(([name, text]) => {
    const path = join(folder, `${name}.test.ts`);
    writeFileSync(path, text);
    return path;
  });
  const env = Object.entries(process.env).filter(([name]) => !/^(TEST_|NODE_TEST)/.test(name));
  const given = env.map(([name, value]) => `${name}=${value}`);
  return attempt('env', [
    '-i',
    ...given,
    process.execPath,
    join(root, 'scripts/test.ts'),
    ...options,
    ...paths,
  ]);
}

test('a run tells its files, what it skipped, and ends with a plain line of passes and failures', async (t) => {
  t.after(() => rmSync(folder, { recursive: true }));

  await t.test('what passes', async () => {
    const { code, stdout } = await run(['one', good], ['two', good]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^1\/2 ✔ /m);
    assert.match(stdout, /^2\/2 ✔ .*(one|two)\.test\.ts {2}1 passed, [\d.]+ s$/m);
    assert.match(stdout, /^Skipped: left, because it rains$/m);
    assert.match(stdout, /\n2 passed, 0 failed, 2 skipped\n$/);
  });

  await t.test('what fails, also when it is run once more alone', async () => {
    const { code, stdout } = await run(['one', good], ['bad', bad]);
    assert.equal(code, 1);
    assert.match(stdout, /Error: as always/);
    assert.match(stdout, /^Once more, alone: .*bad\.test\.ts$/m);
    assert.match(stdout, /\n1 passed, 1 failed, 1 skipped\n$/);
  });

  await t.test(
    'one that passes alone is told as unsteady with both outputs, and the run passes',
    async () => {
      const { code, stdout } = await run(['one', good], ['maybe', unsteady('a')]);
      assert.equal(code, 0, stdout);
      assert.match(stdout, /Error: the first time/);
      assert.match(
        stdout,
        /^Unsteady: .*maybe\.test\.ts passed alone; beside the others it said:\n[\s\S]*Error: the first time/m,
      );
      assert.match(stdout, /\n2 passed, 0 failed, 1 skipped\n$/);
    },
  );

  await t.test('files that share a process keep what they made until all of them are done', async () => {
    const made = join(folder, 'made.test.ts');
    const late = join(folder, 'late.test.ts');
    const after = `after(() => { globalThis.isGone = true; });`;
    writeFileSync(made, `import { after, test } from 'node:test'; ${after} test('made', () => undefined);`);
    // Loaded only after every turn that Node would take to end the tests of the first.
    writeFileSync(
      late,
      `import assert from 'node:assert'; import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
for (let turns = 0; turns < 1_000 && !globalThis.isGone; turns += 1) await turn();
test('late', () => assert.ok(!globalThis.isGone));`,
    );
    const shared = join(root, 'scripts/testing/several-files.ts');
    const { code, stdout } = await attempt('env', [
      '--unset=NODE_TEST_CONTEXT',
      process.execPath,
      shared,
      ...[made, late].map((path) => relative(root, path)),
    ]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /pass 2/);
  });

  await t.test('what does not begin within the time is named, and not called passed', async () => {
    const { code, stdout } = await runWith(['--minutes', '0.0001'], ['one', good], ['two', good]);
    assert.equal(code, 0, stdout);
    assert.match(
      stdout,
      /^Not begun within 0\.0001 minutes, and so not proven: \S+one\S+, \S+two\.test\.ts$/m,
    );
    assert.match(stdout, /\n0 passed, 0 failed\n$/);
    assert.equal((await runWith(['--minutes', 'ten'], ['one', good])).code, 2);
  });

  await t.test('two of them fail the run', async () => {
    const { code, stdout } = await run(['maybe', unsteady('b')], ['perhaps', unsteady('c')]);
    assert.equal(code, 1);
    assert.match(stdout, /^More than 1 unsteady file fails the run\.$/m);
  });
});

test('every file is run that is named alone, also one that takes no time', () => {
  const lost = allFiles(false).filter((file) => planUnits([file]).length !== 1);
  assert.deepEqual(lost, []);
});
