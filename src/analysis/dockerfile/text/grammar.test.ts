import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DockerfileParser } from 'dockerfile-ast';
import { Fault } from '../../../fault.ts';
import * as grammar from './grammar.ts';

const isFault = (error: unknown) => error instanceof Fault && error.code === 'invalid_input';

function instructions(text: string): string[] {
  return DockerfileParser.parse(`FROM a:1\n${text}\nUSER 7\n`)
    .getInstructions()
    .map((each) => each.getKeyword());
}

const commands = [
  'a\nUSER root',
  'a \\',
  'a \\\nUSER root',
  '--mount=type=bind,source=/,target=/host cat /host',
  '--network=host a',
  'cat <<END',
  'cat <<-"END" <<OTHER',
  '["a", "b"]',
  '[a',
  '# a',
  'a\r\nUSER root',
  'a\u2028USER root\u0085USER root',
  'é',
  '\ufeffa',
  '"',
  "'",
  '$(touch x)',
  '`touch x`',
];

test('no command ends its line, adds an instruction, a flag or a here-document', () => {
  for (const command of commands) {
    const text = grammar.run(command, ['type=cache,target=/x']);
    assert.deepEqual(instructions(text), ['FROM', 'RUN', 'USER'], JSON.stringify(command));
    assert.doesNotMatch(text, /<<|\r/);
    const outsideOfLists = text.replace(/\[".*"\]$/, '');
    assert.deepEqual(outsideOfLists.match(/--[a-z]+=/g), ['--mount='], text);
    for (const line of text.split('\n').slice(0, -1)) assert.match(line, / \\$/);
  }
});

test('a command that is data in a list comes back from it unchanged', () => {
  for (const command of commands.filter((each) => /\n|\\|<<|^[-["'#]/.test(each))) {
    const list = grammar.run(command).replace(/^RUN /, '');
    assert.deepEqual(JSON.parse(list), ['/bin/sh', '-c', command]);
  }
});

test('a path that means something to Docker or a shell is refused', () => {
  const bad = [
    'a\nb',
    'a$b',
    '-a',
    '../a',
    'a/../b',
    'a*',
    'a?',
    '[a]',
    'a\\b',
    'a"b',
    "a'b",
    'a`b',
    '#a',
    'a;b',
  ];
  for (const path of [...bad, '', 'a ', ' a', '~a', 'a|b', 'a&b', 'a<b', '{a', 'a'.repeat(501)]) {
    assert.throws(() => grammar.plainPath(path), isFault, JSON.stringify(path));
  }
  for (const path of ['apps/web', 'my app', '@scope/a', 'ünïcode', '(group)/a', 'a+b=c,d']) {
    assert.equal(grammar.plainPath(path), path);
  }
  assert.equal(grammar.copy(['my app/a'], './'), 'COPY ["my app/a", "./"]');
  assert.equal(grammar.copy(['@a/b'], './'), 'COPY ./@a/b ./');
});

test('names of images, variables, packages, ports and paths are of their form or refused', () => {
  for (const image of ['node', 'node:1 AS x', 'node:$V', 'node:1\nUSER 0', 'Node:1', 'a:b:c', 'a@sha256:0']) {
    assert.throws(() => grammar.baseImageName(image), isFault, image);
  }
  for (const key of ['A-B', '1A', 'A=B', 'A B', '', 'A\n', 'Ä', '__proto__ ']) {
    assert.throws(() => grammar.variableKey(key), isFault, key);
  }
  for (const name of ['curl;id', '-y', 'A', 'a b', ''])
    assert.throws(() => grammar.packageName(name), isFault);
  for (const port of [0, 65_536, 1.5, Number.NaN, -1]) assert.throws(() => grammar.portNumber(port), isFault);
  for (const path of ['a', '/a b', '/a\n', '', '/é']) assert.throws(() => grammar.urlPath(path), isFault);
  for (const text of ['', '  ', 'a\0b', 'a'.repeat(4_001)]) {
    assert.throws(() => grammar.commandText(text, 'startCommand'), isFault);
  }
});
