import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineFor } from './version-lines.ts';

test('an exact version stays as it is', () => {
  assert.equal(lineFor('python', '3.12.1'), '3.12.1');
  assert.equal(lineFor('java', '8'), '8');
});

test('where the usual line is allowed it is taken, else the newest that is', () => {
  assert.equal(lineFor('python', '>=3.9'), '3.13');
  assert.equal(lineFor('python', '>=3.9,<3.12'), '3.11');
  assert.equal(lineFor('python', '^3.10'), '3.13');
  assert.equal(lineFor('python', '==3.10.*'), '3.10');
  assert.equal(lineFor('python', '~=3.11.2'), '3.11');
  assert.equal(lineFor('python', '>=3.14'), '3.14');
  assert.equal(lineFor('php', '^7.4 || ^8.0'), '8.4');
  assert.equal(lineFor('php', '~8.1.0'), '8.1');
  assert.equal(lineFor('ruby', '~> 3.2'), '3.4');
  assert.equal(lineFor('ruby', '~> 3.2.0'), '3.2');
  assert.equal(lineFor('elixir', '~> 1.14'), '1.18');
});

test('what is no range gives the number in it, or nothing', () => {
  assert.equal(lineFor('php', 'php 8.1 or so'), '8.1');
  assert.equal(lineFor('python', '*'), '3.13');
  assert.equal(lineFor('python', 'x'), '3.13');
  assert.equal(lineFor('python', '!!'), undefined);
});
