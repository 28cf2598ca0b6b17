import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { root } from '../scripts/commands.ts';

const programs = [
  ...['lab/lab.ts', 'lab/demo.ts', 'bench/run.ts', 'bench/scale-data.ts'],
  ...['drill', 'faults', 'kill', 'lockout'].map((each) => `test/${each}/campaign.ts`),
];

for (const program of programs)
  test(`${program} answers an option that it does not know with a sentence and its usage`, () => {
    const run = spawnSync(process.execPath, [program, '--odd'], { cwd: root, encoding: 'utf8' });
    assert.equal(run.status, 1);
    assert.equal(run.stdout, '');
    assert.match(run.stderr, /^(Unknown option '--odd'\.\n.*(npm run|node bench)|(Demo|Not here): )/s);
    assert.doesNotMatch(run.stderr, /^ {4}at /m);
  });
