import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseSync, Visitor } from 'oxc-parser';
import { root } from '../scripts/commands.ts';
import { inPages } from '../web/data/page-words.ts';

const call = /(?:GET|POST|PUT|PATCH|DELETE) \//;

/** What the service says that helps, where it names a call. */
function hintsOf(file: string): string[] {
  const found: string[] = [];
  new Visitor({
    Property({ key, value }) {
      if (key.type !== 'Identifier' || value.type !== 'Literal' || typeof value.value !== 'string') return;
      const isHint = file === 'fault.ts' || key.name === 'hint' || key.name === 'fix';
      if (isHint && call.test(value.value)) found.push(value.value);
    },
  }).visit(parseSync(file, readFileSync(`${root}src/${file}`, 'utf8')).program);
  return found;
}

test('a page never tells a person to make a call: it has a button for it', () => {
  const files = globSync('**/*.ts', { cwd: `${root}src` }).filter((name) => !name.endsWith('.test.ts'));
  const hints = files.flatMap(hintsOf);
  assert.ok(hints.length > 40, `${hints.length} hints were read`);
  for (const hint of hints) {
    const shown = inPages(hint);
    assert.doesNotMatch(shown, call, hint);
    assert.match(shown, /^[A-Z].+[.!]$/, hint);
  }
});

test('the call is left out, and a page is named where one says something', () => {
  for (const [hint, shown] of [
    ['Link one with PATCH /environments/:id/server, and deploy.', 'Link one, and deploy.'],
    ['Forget it with DELETE /servers/:id?leave=true.', 'Forget it.'],
    ['GET /clusters/:id says why.', 'The page of the cluster says why.'],
    ['It is there: GET /servers lists it.', 'It is there: the page of servers lists it.'],
  ] as const)
    assert.equal(inPages(hint), shown);
});
