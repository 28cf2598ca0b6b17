import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { isRefName, localRef, refspec } from './refs.ts';

const names = [
  'main',
  'a/b',
  '--help',
  '$(id)',
  '`x`',
  'ü',
  '@',
  'a@b',
  '+x',
  "it's",
  'a"b',
  'x.lockx',
  '!',
  '',
  ' ',
  'a b',
  'a..b',
  'a~b',
  'a^b',
  'a:b',
  'a?b',
  'a*b',
  'a[b',
  'a\\b',
  'a\nb',
  'a\x7fb',
  '.a',
  'a/.b',
  'a.lock',
  'a.lock/b',
  'a.',
  'a/',
  '/a',
  'a//b',
  'a@{b',
  'a\tb',
];

test('what we take for the name of a branch is what git takes for one', () => {
  for (const name of names) {
    const { status } = spawnSync('git', ['check-ref-format', `refs/heads/${name}`]);
    assert.equal(isRefName(name), status === 0, JSON.stringify(name));
  }
});

test('a name never becomes part of a path or of our side of a refspec', () => {
  for (const branch of names.filter(isRefName)) {
    assert.match(localRef({ branch }), /^refs\/mirror\/heads\/[0-9a-f]{64}$/);
    assert.equal(refspec({ branch }), `+refs/heads/${branch}:${localRef({ branch })}`);
  }
  assert.notEqual(localRef({ branch: 'x' }).split('/').at(2), localRef({ tag: 'x' }).split('/').at(2));
});
