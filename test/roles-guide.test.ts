import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { rolesGuide } from '../scripts/roles-guide.ts';

const file = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');

test('the table of roles and operations is what the code says (else: npm run generate)', () => {
  assert.equal(file('docs/guides/roles.md'), rolesGuide(file('openapi.json')));
});
