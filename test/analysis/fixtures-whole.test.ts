/** What holds for all fixtures together. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyse } from '../../src/analysis/analysis.ts';
import type { AnalysisResult } from '../../src/analysis/result.ts';
import { MemoryTree } from '../../src/analysis/tree.ts';
import { hangMs } from '../support/until.ts';
import { readFixtures } from './fixtures.ts';

const fixtures = readFixtures();

test('there are at least 150 fixtures, and each expects a list of apps in a repository that has files', () => {
  assert.ok(fixtures.length >= 150, `${fixtures.length} fixtures`);
  for (const { name, about, expected, files } of fixtures) {
    assert.ok(about.length > 0, `${name} does not say what it is about`);
    assert.ok(Array.isArray(expected.apps), `${name} expects no list of apps`);
    assert.ok(Object.keys(files).length > 0, `${name} has no files`);
  }
});

test('every value of every result has a file that tells it, and the file is there', async () => {
  const without: string[] = [];
  for (const { name, files } of fixtures) {
    const result = await analyse(new MemoryTree(files), { signal: AbortSignal.timeout(hangMs) });
    const known = new Set(result.evidence.map(({ field }) => field));
    for (const field of fieldsOf(result)) if (!known.has(field)) without.push(`${name}: ${field}`);
    for (const { field, file } of result.evidence)
      if (files[file] === undefined && !isFolder(files, file)) without.push(`${name}: ${field} by "${file}"`);
  }
  assert.deepEqual(without, []);
});

/** Paths of everything that a result says. Its own path is where an app lies, and confidence is about the rest. */
function fieldsOf(result: AnalysisResult): string[] {
  const fields = result.apps.flatMap(({ path: _path, confidence: _confidence, ...app }, at) =>
    Object.entries(app).flatMap(([key, value]) => {
      const field = `apps[${at}].${key}`;
      if (Array.isArray(value)) return value.map((_, index) => `${field}[${index}]`);
      if (key === 'versions') return Object.keys(app.versions).map((tool) => `${field}.${tool}`);
      return value === null ? [] : [field];
    }),
  );
  fields.push(...result.services.map((_, at) => `services[${at}]`));
  fields.push(...result.variables.map((_, at) => `variables[${at}]`));
  if (result.monorepo) fields.push('monorepo');
  if (result.composeFile !== null) fields.push('composeFile');
  return fields;
}

function isFolder(files: Readonly<Record<string, string>>, path: string): boolean {
  return path === '' || path === '.' || Object.keys(files).some((file) => file.startsWith(`${path}/`));
}
