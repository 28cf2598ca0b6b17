import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standardLimits } from './limits.ts';
import { selectFiles, survey } from './select-files.ts';
import type { TreeEntry } from './tree.ts';

function selected(
  files: Readonly<Record<string, number>>,
  changes: Partial<typeof standardLimits> = {},
  withSecondary = false,
) {
  const entries = Object.entries(files).map(([path, size]): TreeEntry => ({ path, size, type: 'file' }));
  const limits = { ...standardLimits, ...changes };
  const surveyed = survey(entries, limits, '');
  return selectFiles(surveyed.entries, { limits, folders: surveyed.folders, withSecondary });
}

test('manifests come first, then lock files, configuration and source, from the root downwards', () => {
  const { paths } = selected({
    'src/a/b.ts': 1,
    'src/c.ts': 1,
    'd.ts': 1,
    'x/data.json': 1,
    'yarn.lock': 1,
    'x/package.json': 1,
    'package.json': 1,
  });
  assert.deepEqual(paths, [
    'package.json',
    'x/package.json',
    'yarn.lock',
    'x/data.json',
    'd.ts',
    'src/c.ts',
    'src/a/b.ts',
  ]);
});

test('what tools made, tests, and what goes to browsers as it is are not read', () => {
  const { paths } = selected({
    'node_modules/a/package.json': 1,
    'vendor/b.go': 1,
    'dist/c.js': 1,
    'public/d.js': 1,
    'a.test.ts': 1,
    'tests/e.ts': 1,
    '.github/f.yml': 1,
    'g.png': 1,
    'public/index.php': 1,
  });
  assert.deepEqual(paths, ['public/index.php']);
});

test('tests are read when they are all there is to look at', () => {
  assert.deepEqual(selected({ 'examples/a.ts': 1 }, {}, true).paths, ['examples/a.ts']);
});

test('limits on number and bytes hold, and are said', () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`f${at}.ts`, 100]));
  const few = selected(many, { sourceFiles: 10 });
  assert.equal(few.paths.length, 10);
  assert.equal(few.warnings[0]?.code, 'not_all_read');
  assert.equal(selected(many, { totalBytes: 1_000 }).paths.length, 10);
  assert.deepEqual(
    selected({ 'package.json': 2_000_000 }).warnings.map(({ code }) => code),
    ['file_too_large'],
  );
});
