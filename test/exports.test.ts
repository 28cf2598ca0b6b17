import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { root } from '../scripts/commands.ts';

/** What src has for others: a tree of files in memory, with which tests and benchmarks analyse without a repository. */
const forOthers = ['analysis/tree.ts MemoryTree'];

/** By file, without comments: a word in a sentence is no use of it. */
function codeIn(folder: string): ReadonlyMap<string, string> {
  const files = globSync('**/*.ts', { cwd: `${root}${folder}` }).filter((name) => !name.endsWith('.test.ts'));
  return new Map(
    files.sort().map((name) => {
      const source = readFileSync(`${root}${folder}/${name}`, 'utf8');
      return [name, source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')] as const;
    }),
  );
}

function exportsOf(code: string): string[] {
  const declared =
    /^export\s+(?:async\s+)?(?:function\*?|const|let|class|interface|type)\s+([A-Za-z_$][\w$]*)/gm;
  return [...code.matchAll(declared)].map(([, name = '']) => name);
}

/** `file name` of everything that this one takes from others, by name or through `* as`. */
function* takenBy(file: string, code: string): Generator<string> {
  const clauses =
    /^(?:import|export)\s+(?:type\s+)?(?:\{([^}]*)\}|\*\s+as\s+(\w+))\s+from\s+'(\.{1,2}\/[^']+)'/gm;
  for (const [, names = '', whole, path = ''] of code.matchAll(clauses)) {
    const from = normalize(join(dirname(file), path));
    for (const each of names.split(','))
      yield `${from} ${each
        .trim()
        .replace(/^type\s+/, '')
        .replace(/\s+as\s+.*$/, '')}`;
    if (whole !== undefined)
      for (const [, name] of code.matchAll(new RegExp(`\\b${whole}\\s*\\.([A-Za-z_$][\\w$]*)`, 'g')))
        yield `${from} ${name}`;
  }
  // What is loaded later is taken in many forms: there, the word alone counts.
  for (const [, path = ''] of code.matchAll(/\bimport\(\s*'(\.{1,2}\/[^']+)'/g))
    for (const [name] of code.matchAll(/[A-Za-z_$][\w$]*/g))
      yield `${normalize(join(dirname(file), path))} ${name}`;
}

/** What no other file takes, and the file itself does not use either. */
function unusedIn(codeOf: ReadonlyMap<string, string>, taken: ReadonlySet<string>): string[] {
  return [...codeOf].flatMap(([file, code]) =>
    exportsOf(code)
      .filter((name) => !taken.has(`${file} ${name}`))
      .filter(
        (name) =>
          (code.match(new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`, 'g'))?.length ?? 0) <
          2,
      )
      .map((name) => `${file} ${name}`),
  );
}

const takenIn = (codeOf: ReadonlyMap<string, string>) =>
  new Set([...codeOf].flatMap(([file, code]) => [...takenBy(file, code)]));

test('whatever src exports, src uses: what only tests know is no part of the service', () => {
  const codeOf = codeIn('src');
  const taken = takenIn(codeOf);
  assert.ok(taken.has('store/sql.ts sql') && taken.size > 2_000, `${taken.size} names are taken`);
  assert.deepEqual(unusedIn(codeOf, taken), forOthers);
});

test('whatever a file of the SDK exports, another uses, or its index hands out', () => {
  const codeOf = codeIn('sdk');
  const taken = takenIn(codeOf);
  assert.ok(taken.has('client.ts createClient') && taken.has('events.ts Follower'));
  const unused = unusedIn(codeOf, taken).filter((name) => !name.startsWith('generated/schemas.ts '));
  assert.deepEqual(unused, []);
});
