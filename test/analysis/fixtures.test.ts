import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyse } from '../../src/analysis/analysis.ts';
import { MemoryTree } from '../../src/analysis/tree.ts';
import { hangMs } from '../support/until.ts';
import { differences, readFixtures } from './fixtures.ts';

for (const { name, about, expected, files } of readFixtures()) {
  test(`${name}: ${about}`, async () => {
    const result = await analyse(new MemoryTree(files), { signal: AbortSignal.timeout(hangMs) });
    assert.deepEqual(differences(expected, result), []);
  });
}
