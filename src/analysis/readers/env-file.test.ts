import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEnvFile } from './env-file.ts';

const pairs = (text: string) => parseEnvFile(text).map(({ key, value }) => [key, value]);

test('Quotes, export and comments are no part of a value', () => {
  assert.deepEqual(pairs('A=1 # one\nexport B = "x # y"\n C=\'z\'\n#D=4\nE=\nF=a#b\n'), [
    ['A', '1'],
    ['B', 'x # y'],
    ['C', 'z'],
    ['E', ''],
    ['F', 'a#b'],
  ]);
});

test('A quoted value may go over several lines, and the lines after it are read on', () => {
  assert.deepEqual(pairs('KEY="-----BEGIN\nabc\n-----END"\nB=2\r\n'), [
    ['KEY', '-----BEGIN\nabc\n-----END'],
    ['B', '2'],
  ]);
});

test('A quote that is never closed does not swallow the file', () => {
  assert.deepEqual(
    parseEnvFile('A="open\nB=2').map(({ key, line }) => [key, line]),
    [
      ['A', 1],
      ['B', 2],
    ],
  );
});

test('A comment above or behind a variable is told with it', () => {
  const [first, second] = parseEnvFile('# optional\nA=\nB=1 # the second');
  assert.equal(first?.comment, 'optional');
  assert.equal(second?.comment, 'the second');
});
