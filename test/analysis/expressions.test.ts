/** Every regular expression of the analysis, against lines that are made to send it back and forth. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseSync } from 'oxc-parser';
import { root } from '../../scripts/commands.ts';
import { processorSeconds } from '../support/processor-time.ts';

interface Expression {
  readonly place: string;
  readonly pattern: RegExp;
}

/**
 * One that goes through a line once needs a thousandth of a second for the longest; one that begins anew at each
 * character shows at the second length, and would need half a minute at the third.
 */
const lengths = [500, 5_000, 100_000];
const mostSeconds = [0.01, 0.01, 0.2];

/** Written as such, or put together by `new RegExp`; what is filled in there counts as a word. */
function expressionsIn(file: string): Expression[] {
  const text = readFileSync(`${root}${file}`, 'utf8');
  const found: Expression[] = [];
  const add = (start: number, source: string, flags: string) => {
    const place = `${file}:${text.slice(0, start).split('\n').length}`;
    found.push({ place, pattern: new RegExp(source, flags.replace(/[gy]/g, '')) });
  };
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { type, start, regex, callee, arguments: given } = Object(value);
    if (type === 'Literal' && regex) add(start, regex.pattern, regex.flags);
    if (type === 'NewExpression' && callee.name === 'RegExp') {
      const source = sourceOf(given[0]);
      if (source !== undefined) add(start, source, String(given[1]?.value ?? ''));
    }
    for (const each of Object.values(value)) look(each);
  };
  look(parseSync(file, text).program);
  return found;
}

function sourceOf(node: unknown): string | undefined {
  const { type, quasi, quasis } = Object(node);
  if (type === 'TaggedTemplateExpression')
    return quasi.quasis.map((each: unknown) => Object(each).value.raw).join('word');
  if (type === 'TemplateLiteral')
    return quasis.map((each: unknown) => Object(each).value.cooked).join('word');
  return undefined;
}

/** One character over and over; then the expression's own words, which get it past its beginning again and again. */
function piecesFor({ source }: RegExp): string[] {
  const words = new Set(source.match(/\w{2,}|[^\w\\]/g) ?? []);
  const repeated = [
    ...' \ta A0_-#"\'/.\\=:([{,;<$@!*|&\n\r',
    ...words,
    ...[...words].map((word) => `${word} `),
  ];
  return repeated;
}

const lineOf = new Map<string, string>();

/** Three times, since what else the process does now and then may fall into one. */
function isSlow(pattern: RegExp, piece: string, length: number, most: number): boolean {
  const line = lineOf.get(`${length} ${piece}`) ?? piece.repeat(length / piece.length);
  lineOf.set(`${length} ${piece}`, line);
  return [1, 2, 3].every(() => processorSeconds(() => void pattern.exec(line)) > most);
}

const files = globSync('src/analysis/**/*.ts', { cwd: root }).filter((name) => !name.endsWith('.test.ts'));
const expressions = files.flatMap(expressionsIn);

test('whoever wants to keep the analysis busy with a long line cannot: each expression goes through it once', () => {
  assert.ok(expressions.length > 300, `${expressions.length} expressions`);
  const slow = expressions.flatMap(({ place, pattern }) => {
    const piece = piecesFor(pattern).find((each) =>
      lengths.some((length, index) => isSlow(pattern, each, length, mostSeconds[index] ?? 0)),
    );
    return piece === undefined ? [] : [`${place} ${pattern} on ${JSON.stringify(piece)} over and over`];
  });
  assert.deepEqual(slow, []);
});
