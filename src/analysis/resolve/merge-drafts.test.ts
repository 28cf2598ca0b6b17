import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppDraft } from '../detector.ts';
import { evidenced } from '../evidence.ts';
import { applyDeclarations } from './merge-drafts.ts';

const said = (draft: AppDraft, precedence: number) => ({ directory: '', precedence, draft });
const version = (line: string) => evidenced(line, 1, 'file', line);

test('versions of a weak declaration fill gaps only, those of a strong one count over what was found', () => {
  const draft = { versions: { node: version('22') } };
  const other = { versions: { node: version('18'), pnpm: version('9') } };
  const lines = (precedence: number) => {
    const { versions = {} } = applyDeclarations(draft, [said(other, precedence)]);
    return Object.fromEntries(Object.entries(versions).map(([tool, { value }]) => [tool, value]));
  };
  assert.deepEqual(lines(0.8), { node: '22', pnpm: '9' });
  assert.deepEqual(lines(1), { node: '18', pnpm: '9' });
});

test('a word on the fallback corrects whatever static output is chosen, in whatever order they come', () => {
  const output = evidenced({ directory: 'dist', isSinglePage: false }, 1, 'vite.config.js', 'dist');
  const declared = evidenced({ directory: 'out', isSinglePage: false }, 1, 'netlify.toml', 'out');
  const singlePage = evidenced(true, 1, '_redirects', 'one page');
  const merged = applyDeclarations({ staticOutput: output }, [
    said({ singlePage }, 2),
    said({ staticOutput: declared }, 2),
  ]);
  assert.deepEqual(merged.staticOutput?.value, { directory: 'out', isSinglePage: true });
  assert.equal(merged.singlePage?.source.file, '_redirects');
  assert.equal(applyDeclarations({}, [said({ singlePage }, 2)]).staticOutput, undefined);
});
