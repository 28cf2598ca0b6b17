import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { Random } from '../../../test/support/random.ts';
import { Fault } from '../../fault.ts';
import { quoteArgv } from './quote.ts';

const nasty = [
  ...["'", '"', '`', '$', '\\', '!', '\n', '\r', '\t', ' ', '#', '&', ';', '|', '<', '>', '(', ')', '{', '}'],
  ...[
    '*',
    '?',
    '[',
    ']',
    '~',
    '=',
    '%',
    '^',
    '-',
    '--',
    '\x01',
    '\x1b',
    '\x7f',
    'é',
    '\u{1f6a2}',
    '\ufeff',
    '\xff',
  ],
  ...[
    "'\\''",
    '$(id)',
    '`id`',
    '$\u007bHOME}',
    '$$',
    '!!',
    '\\\n',
    "\\'",
    '-n',
    '-e',
    '\\c',
    '\\0',
    "'; id; '",
  ],
];

/** Of bytes 1 to 255 (as Latin-1), of what shells read as special, or of both. */
function randomArgument(random: Random): string {
  let text = '';
  for (let left = random.between(0, 24); left > 0; left -= 1) {
    text += random.chance(0.5)
      ? (nasty[random.between(0, nasty.length - 1)] ?? '')
      : String.fromCharCode(random.between(1, 255));
  }
  return text;
}

/** Many to a line, as many lines to a shell as keep it quick; printed back with NUL after each. */
function throughShell(shell: string, lists: readonly (readonly string[])[]): string[] {
  const program = lists.map((list) => quoteArgv(['printf', '%s\\0', ...list])).join('\n');
  const { stdout, stderr, status } = spawnSync(shell, ['-s'], { input: program, maxBuffer: 1 << 28 });
  assert.equal(status, 0, stderr.toString().slice(0, 500));
  const printed = stdout.toString('utf8').split('\0');
  assert.equal(printed.pop(), '');
  return printed;
}

for (const shell of ['sh', 'dash', 'bash']) {
  test(`100,000 random arguments come out of ${shell} as they went in`, () => {
    const random = new Random(20_260_801);
    const lists = Array.from({ length: 500 }, () =>
      Array.from({ length: 200 }, () => randomArgument(random)),
    );
    const printed = throughShell(shell, lists);
    const wanted = lists.flat();
    assert.equal(printed.length, wanted.length);
    const wrong = wanted.findIndex((each, index) => each !== printed[index]);
    if (wrong !== -1) assert.deepEqual([printed[wrong]], [wanted[wrong]]);
  });

  test(`${shell} -c hands over one list as it is, the way sshd calls it`, () => {
    const list = ['', '-c', '--', ...nasty, nasty.join(''), 'a\\', "b'", ''];
    const { stdout } = spawnSync(shell, ['-c', quoteArgv(['printf', '%s\\0', ...list])]);
    assert.deepEqual(stdout.toString('utf8').split('\0').slice(0, -1), list);
  });
}

test('the program’s name is quoted too: no alias, keyword or assignment is seen in it', () => {
  for (const name of ['if', 'A=1', '~', '-x', 'a b', '$0']) {
    const { status, stderr } = spawnSync('sh', ['-c', quoteArgv([name])]);
    assert.ok(status === 127 || status === 126, `${name}: ${status} ${stderr.toString()}`);
  }
});

test('what a command line cannot carry is refused, not changed', () => {
  const refused = [[], [''], ['a\0b'], ['\ud800'], ['echo', 'x'.repeat(130_000)]];
  for (const argv of refused) {
    assert.throws(
      () => quoteArgv(argv),
      (error) => error instanceof Fault && error.code === 'invalid_input',
    );
  }
});
