import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendTexts } from '../attack/texts.ts';

test('no text in any field of any operation is ever run, nor ends in an error of ours: each in each', async (t) => {
  const count = await sendTexts(t, () => true);
  assert.ok(count > 2_500, `${count} attempts`);
});
