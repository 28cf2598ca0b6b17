import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { settingsGuide } from '../scripts/settings-guide.ts';

test('the guide to the settings is what the code says (else: npm run generate)', () => {
  const committed = readFileSync(new URL('../docs/guides/settings.md', import.meta.url), 'utf8');
  assert.equal(committed, settingsGuide());
});
