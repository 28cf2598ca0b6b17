import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pieces, textOf } from './ansi.ts';

const esc = '\x1b';

test('a line without sequences is one plain piece', () => {
  assert.deepEqual(pieces('npm ci'), [{ text: 'npm ci', style: '' }]);
});

test('colours, bold and their ends become pieces with styles', () => {
  assert.deepEqual(pieces(`a ${esc}[1;31mred${esc}[22m thin${esc}[0m b`), [
    { text: 'a ', style: '' },
    { text: 'red', style: 'ansi-red ansi-bold' },
    { text: ' thin', style: 'ansi-red' },
    { text: ' b', style: '' },
  ]);
  assert.deepEqual(pieces(`${esc}[92mbright${esc}[39m off`), [
    { text: 'bright', style: 'ansi-green' },
    { text: ' off', style: '' },
  ]);
});

test('the first of the 256 colours have names; others keep the colour of the page, and eat their parameters', () => {
  assert.deepEqual(pieces(`${esc}[38;5;4mblue`), [{ text: 'blue', style: 'ansi-blue' }]);
  assert.deepEqual(pieces(`${esc}[38;2;1;31;3mtrue`), [{ text: 'true', style: '' }]);
  assert.deepEqual(pieces(`${esc}[48;5;31mground`), [{ text: 'ground', style: '' }]);
});

test('what moves the cursor, erases, or sets a title leaves no trace in the text', () => {
  const line = `${esc}[?25l${esc}[2K${esc}[1Gdone${esc}]0;title\x07!${esc}(B`;
  assert.equal(
    pieces(line)
      .map(({ text }) => text)
      .join(''),
    'done!',
  );
});

test('the text of a line is what its pieces say together', () => {
  for (const line of ['npm ci', `a ${esc}[1;31mred${esc}[0m b`, `${esc}]0;title\x07${esc}[2Kdone`])
    assert.equal(
      textOf(line),
      pieces(line)
        .map(({ text }) => text)
        .join(''),
    );
});
