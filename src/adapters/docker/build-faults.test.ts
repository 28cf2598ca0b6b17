import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fault } from '../../fault.ts';
import { buildFault } from './build-faults.ts';
import { BuildOutput } from './build-output.ts';

/** As Docker prints it, then our own last line. */
function faultOf(printed: string, end: string): Fault {
  const output = new BuildOutput();
  const shown = `${printed}\n${end}`.split('\n').filter((line) => {
    output.readOwn(line);
    return output.push(line);
  });
  assert.equal(shown.join('\n'), printed, 'our own lines are not shown');
  assert.ok(output.end);
  return buildFault(output.end, output.failure);
}

const end = 'slipway-build-ended 1 met 0 -';
const step = (said: string, code: number) => `#4 [1/2] FROM debian
#4 CACHED

#5 [2/2] RUN npm ci
${said
  .split('\n')
  .map((line) => `#5 0.132 ${line}`)
  .join('\n')}
#5 ERROR: process "/bin/sh -c npm ci" did not complete successfully: exit code: ${code}
------
 > [2/2] RUN npm ci:
------
ERROR: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: ${code}`;

test('the step that failed is told, with what it said and with help', () => {
  const said = 'npm error The `npm ci` command can only install with an existing package-lock.json';
  const fault = faultOf(step(said, 1), end);
  assert.deepEqual([fault.code, /RUN npm ci/.test(fault.message)], ['build_failed', true]);
  assert.match(fault.hint ?? '', /lock file is missing/);
  assert.equal(
    fault.evidence,
    `[2/2] RUN npm ci\n${said}\nprocess "/bin/sh -c npm ci" did not complete successfully: exit code: 1`,
  );
});

test('the memory, the disk, the network and the daemon are told apart', () => {
  const codes: [string, number, string, Fault['code']][] = [
    ['Killed', 137, end, 'build_out_of_memory'],
    ['npm error signal SIGKILL', 1, 'slipway-build-ended 1 met 12 -', 'build_out_of_memory'],
    ['npm error signal SIGKILL', 1, end, 'build_failed'],
    ['nothing of note', 1, 'slipway-build-ended 1 killed 1 -', 'build_out_of_memory'],
    ['nothing of note', 1, 'slipway-build-ended 1 met 12 -', 'build_failed'],
    ['write error: No space left on device', 1, end, 'disk_full'],
    ['Cannot connect to the Docker daemon', 1, end, 'build_failed'],
  ];
  for (const [said, code, last, expected] of codes)
    assert.equal(faultOf(step(said, code), last).code, expected, `${said} ${last}`);
  const unreachable = ['getaddrinfo EAI_AGAIN', 'Unable to connect to deb.debian.org:80:'];
  for (const said of unreachable) assert.match(faultOf(step(said, 100), end).hint ?? '', /downloaded/);
  const begun = '#5 [2/2] RUN npm ci\n#5 1.0 begun\n';
  for (const last of [
    'ERROR: failed to solve: Unavailable: error reading from server: EOF',
    'ERROR: failed to solve: database not open',
    'ERROR: failed to receive status: rpc error: code = Unknown desc = database not open',
    'unexpected EOF',
  ])
    assert.equal(faultOf(begun + last, end).code, 'remote_failed', last);
  const old = 'cannot write /x/image because server did not provide an image ID';
  assert.equal(faultOf(begun + old, end).code, 'remote_failed');
});

test('of what a step says without end, only the last is kept', () => {
  const fault = faultOf(step(Array.from({ length: 10_000 }, (_, at) => `line ${at}`).join('\n'), 1), end);
  assert.match(fault.evidence ?? '', /^line 9999$/m);
  assert.doesNotMatch(fault.evidence ?? '', /^line 9000$/m);
});
