import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { plainWords, startForm } from './command-line.ts';

test('a command without signs of the shell becomes its words', () => {
  assert.deepEqual(plainWords('node server.js'), ['node', 'server.js']);
  assert.deepEqual(plainWords(`java -jar 'my app.jar' "--a b"x`), ['java', '-jar', 'my app.jar', '--a bx']);
  assert.deepEqual(plainWords('exec node a.js'), ['node', 'a.js']);
  assert.deepEqual(plainWords('NODE_ENV=production node a.js'), [
    'env',
    'NODE_ENV=production',
    'node',
    'a.js',
  ]);
});

test('whatever a shell would expand or take for itself is left to the shell', () => {
  const kept = [
    'node $FILE',
    'node "a$B"',
    'node `id`',
    'a | b',
    'a && b',
    'a; b',
    'a &',
    'a > b',
    'ls *.jar',
    'ls a?',
    'ls [ab]',
    'node ~/a.js',
    'echo {a,b}',
    'a # b',
    'a\nb',
    'a \\b',
    "a 'b",
    'cd x',
    'export A=b',
    'A=b',
    'if true; then a; fi',
    '-x',
    '! a',
  ];
  for (const command of kept) assert.equal(plainWords(command), null, command);
});

test('in a shell the last program takes its place', () => {
  const shell = (command: string) => startForm(command).argv[2];
  assert.equal(shell('gunicorn a:b --bind 0.0.0.0:$PORT'), 'exec gunicorn a:b --bind 0.0.0.0:$PORT');
  assert.equal(shell('npm run migrate && node a.js'), 'npm run migrate && exec node a.js');
  assert.equal(shell('cd web; A=$B node a.js'), 'cd web; exec env A=$B node a.js');
  assert.equal(shell('a && exec node b.js'), 'a && exec node b.js');
  assert.equal(shell(`x "a && b" && node '; c' $D`), `x "a && b" && exec node '; c' $D`);
});

test('a command whose last program cannot be told says that signals do not reach it', () => {
  const lost = [
    'a | b',
    'a || b',
    'a & b',
    'a; (b)',
    'while true; do a; done',
    'a &',
    'cat <<E\nx\nE',
    'a &&',
  ];
  for (const command of [...lost, 'a && cd b', 'true; { a; }', '$PROGRAM x']) {
    const form = startForm(command);
    assert.deepEqual(form, { argv: ['/bin/sh', '-c', command], getsSignals: false }, command);
  }
});

test('with `exec` a command prints what it prints without', () => {
  const commands = [
    'echo $HOME "a  b"',
    'A="x y" B=1 env | grep -c .',
    'true && A="x y" printenv A',
    `echo 'it && is'; echo "a; b" && printf '%s' "$(echo c)"`,
    'cd /; pwd && ls -d usr',
    'echo a >&2 && echo b 2>&1',
  ];
  for (const command of commands) {
    const { argv } = startForm(command);
    const [program = '', ...rest] = argv;
    const plain = execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8', stdio: 'pipe' });
    assert.equal(execFileSync(program, rest, { encoding: 'utf8', stdio: 'pipe' }), plain, command);
  }
});
