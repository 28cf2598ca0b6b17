import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Folders } from './folders.ts';

function kinds(files: readonly string[], folders: readonly string[], root = ''): string[] {
  const entries = files.map((path) => ({ path, type: 'file' as const, size: 1 }));
  const all = new Folders(entries, root);
  return folders.map((folder) => all.of(folder).kind);
}

test('names of packages below a source set of the JVM say nothing', () => {
  const folders = [
    'src/main/java/com/example/demo/test',
    'src/test/java/com/example/demo',
    'src/demo/java/a',
  ];
  assert.deepEqual(kinds([], folders), ['own', 'secondary', 'own']);
});

test('a folder of examples is one beside a project, or when it is or holds a project', () => {
  const files = ['lib/package.json', 'a/b/demo/go.mod', 'a/c/samples/one/pom.xml', 'a/d/demo/x.go'];
  const folders = ['demo', 'lib/example', 'a/b/demo', 'a/c/samples', 'a/c/samples/one', 'a/d/demo'];
  assert.deepEqual(kinds(files, folders), [...Array(5).fill('secondary'), 'own']);
});

test('a package of Python is no example, whatever its name; tests are tests all the same', () => {
  const files = ['manage.py', 'demo/settings.py', 'sample/__init__.py', 'tests/__init__.py', 'example/a.py'];
  assert.deepEqual(kinds(files, ['demo', 'sample', 'tests', 'example']), [
    'own',
    'own',
    'secondary',
    'secondary',
  ]);
});

test('the names of the root and of what is above it do not count, those below it do', () => {
  const folders = ['vendor/examples/public/a', 'vendor/examples/public/test', 'vendor/other', 'examples'];
  assert.deepEqual(kinds([], folders, 'vendor/examples/public'), [
    'own',
    'secondary',
    'foreign',
    'secondary',
  ]);
  assert.equal(new Folders([], 'public').of('public/a').isClient, false);
});
