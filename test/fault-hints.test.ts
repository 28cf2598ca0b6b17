import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseSync, Visitor } from 'oxc-parser';
import { root } from '../scripts/commands.ts';
import { apiFaultCodes, Fault, type FaultCode } from '../src/fault.ts';

interface Thrown {
  readonly at: string;
  readonly code: string;
}

/** Every `new Fault` of a file that says neither what helps nor which fields are wrong. */
function bareFaults(file: string): Thrown[] {
  const source = readFileSync(`${root}src/${file}`, 'utf8');
  const found: Thrown[] = [];
  new Visitor({
    NewExpression({ callee, arguments: [code, , options], start }) {
      if (callee.type !== 'Identifier' || callee.name !== 'Fault') return;
      const properties = options?.type === 'ObjectExpression' ? options.properties : [];
      const says = properties.some(
        (each) =>
          each.type === 'SpreadElement' ||
          (each.key.type === 'Identifier' && ['hint', 'errors'].includes(each.key.name)),
      );
      // Options that were made elsewhere are read where they are made.
      if (says || (options && options.type !== 'ObjectExpression')) return;
      const line = source.slice(0, start).split('\n').length;
      found.push({
        at: `${file}:${line}`,
        code: code?.type === 'Literal' ? String(code.value) : 'not written out',
      });
    },
  }).visit(parseSync(file, source).program);
  return found;
}

const isApiCode = (code: string): code is FaultCode => Object.hasOwn(apiFaultCodes, code);

test('no fault leaves without what helps: it says so itself, by its fields, or by its code', () => {
  const files = globSync('**/*.ts', { cwd: `${root}src` }).filter((name) => !name.endsWith('.test.ts'));
  const bare = files.flatMap(bareFaults);
  assert.ok(bare.length > 50, `${bare.length} faults were looked at`);
  // `http/openapi.ts` makes examples of all of them.
  const unhelpful = bare
    .filter(
      ({ code, at }) => !at.startsWith('http/openapi.ts') && (isApiCode(code) || code === 'not written out'),
    )
    .filter(({ code }) => !isApiCode(code) || new Fault(code, 'It failed.').hint === undefined);
  assert.deepEqual(unhelpful, []);
});

test('what helps in general is a sentence that a person can act on', () => {
  for (const code of Object.keys(apiFaultCodes).filter(isApiCode)) {
    const { hint } = new Fault(code, 'It failed.');
    if (hint !== undefined) assert.match(hint, /^[A-Z`].{10,}[.!`]$/, code);
  }
  assert.equal(new Fault('not_found', 'No.', { hint: 'Look elsewhere.' }).hint, 'Look elsewhere.');
});
