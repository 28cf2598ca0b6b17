import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyse } from '../../src/analysis/analysis.ts';
import { MemoryTree } from '../../src/analysis/tree.ts';
import { hangMs } from '../support/until.ts';

const server = {
  'package.json': JSON.stringify({ scripts: { start: 'node server.js' }, dependencies: { express: '4' } }),
  'server.js': "require('express')().listen(3000)",
};

async function appsIn(rootDirectory: string, files: Readonly<Record<string, string>>) {
  const signal = AbortSignal.timeout(hangMs);
  return analyse(new MemoryTree({ ...server, ...files }), { signal, rootDirectory });
}

for (const folder of [
  'site',
  'docs',
  'examples',
  'test',
  'public',
  'dist',
  'packages/a/demo',
  'vendor/site',
]) {
  test(`pages in ${folder} are an app where that folder is the root`, async () => {
    const { apps } = await appsIn(folder, { [`${folder}/index.html`]: '<h1>Hi</h1>' });
    assert.deepEqual(
      apps.map(({ path, language, framework, startCommand, staticOutput }) => {
        return { path, language, framework, startCommand, staticOutput };
      }),
      [
        {
          path: folder,
          language: 'html',
          framework: null,
          startCommand: null,
          staticOutput: { directory: '.', isSinglePage: false },
        },
      ],
    );
  });
}

test('sources below a root that is called docs are read, and tests below it are still none', async () => {
  const { apps, variables } = await appsIn('docs', {
    'docs/main.py': "import os\nos.environ['DOCS_KEY']\n",
    'docs/tests/a.py': "import os\nos.environ['TEST_KEY']\n",
  });
  assert.deepEqual(
    apps.map(({ path, language }) => [path, language]),
    [['docs', 'python']],
  );
  assert.deepEqual(
    variables.map(({ key }) => key),
    ['DOCS_KEY'],
  );
});
