import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { unifiedDiff } from './diff.ts';

test('a file that comes, goes or stays shows as that', () => {
  assert.equal(unifiedDiff('/etc/a', null, 'x\ny\n'), '--- /dev/null\n+++ /etc/a\n@@ -0,0 +1,2 @@\n+x\n+y\n');
  assert.equal(unifiedDiff('/etc/a', 'x\n', null), '--- /etc/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n');
  assert.equal(unifiedDiff('/etc/a', 'x\n', 'x\n'), '');
});

test('`git apply` makes the new text of the old one with it', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'diff-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
  const before = `${lines.join('\n')}\n`;
  const after = `first\n${lines.filter((_, index) => index !== 3 && index !== 25).join('\n')}\nlast\n`;
  writeFileSync(join(dir, 'file'), before);
  const diff = unifiedDiff('file', before, after).replace('--- file\n+++ file', '--- a/file\n+++ b/file');
  const { status, stderr } = spawnSync('git', ['apply', '-'], { cwd: dir, input: diff });
  assert.equal(status, 0, String(stderr));
  assert.equal(readFileSync(join(dir, 'file'), 'utf8'), after);
});
