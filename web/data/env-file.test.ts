import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEnv } from './env-file.ts';

const read = (text: string) =>
  Object.fromEntries(parseEnv(text).variables.map(({ key, value }) => [key, value]));

test('lines, comments, export and quotes are read as other tools read them', () => {
  const text = `# a comment
A=1
export B = two words # and why
C='single # kept $as \\n it is'
D="double \\"quoted\\"\\nline"
E=
F=with#no comment`;
  assert.deepEqual(read(text), {
    A: '1',
    B: 'two words',
    C: 'single # kept $as \\n it is',
    D: 'double "quoted"\nline',
    E: '',
    F: 'with#no comment',
  });
});

test('a value in quotes goes over several lines, and the last of two with one key counts', () => {
  assert.deepEqual(read('KEY="-----BEGIN\nabc\n-----END"\nA=1\nA=2\n'), {
    KEY: '-----BEGIN\nabc\n-----END',
    A: '2',
  });
});

test('a line that is none is named by its number', () => {
  assert.deepEqual(parseEnv('A=1\n\nhello\n2B=x\nC=3').problems, [
    'Line 3 is not KEY=value.',
    'Line 4 is not KEY=value.',
  ]);
  assert.deepEqual(read('A=1\n\nhello\nC=3'), { A: '1', C: '3' });
});
