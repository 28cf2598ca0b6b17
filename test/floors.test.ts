import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { root } from '../scripts/commands.ts';

/** The house from DESIGN.md, from the ground up: who lives on a floor may know those on it and below. */
const floors: readonly (readonly [name: string, lives: RegExp])[] = [
  ['composition', /^(app|contexts|main|resources|rotate-keys|slipway)\.ts$/],
  ['ground', /^[a-z0-9-]+\.ts$/],
  ['store', /^store\//],
  ['outside', /^(remote|adapters|events)\//],
  ['work', /^(operations|analysis|engine)\//],
  [
    'routes',
    /^(http\/|areas\/[^/]+\/([a-z-]+\/)?(module|routes|schemas|[a-z-]+-(routes|schemas)|[a-z-]+-page)\.ts$)/,
  ],
  ['areas', /^areas\//],
];
const fromBelow = ['ground', 'store', 'outside', 'work', 'areas', 'routes', 'composition'];

interface Arrow {
  readonly from: string;
  readonly to: string;
}

const files = globSync('**/*.ts', { cwd: `${root}src` })
  .filter((name) => !name.endsWith('.test.ts'))
  .sort();
const sourceOf = (name: string) => readFileSync(`${root}src/${name}`, 'utf8');
const arrows = files.flatMap(arrowsFrom);

/** Whatever names a file of ours: import and export, with or without `type`, and import(). */
function arrowsFrom(from: string): Arrow[] {
  return arrowsOf(from, sourceOf(from));
}

function arrowsOf(from: string, source: string): Arrow[] {
  const named = source.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*(['"])(\.{1,2}\/[^'"]+)\1/g);
  return [...named].map(([, , path = '']) => ({ from, to: normalize(join(dirname(from), path)) }));
}

function floorOf(file: string): number {
  const name = floors.find(([, lives]) => lives.test(file))?.[0];
  assert.ok(name, `${file} lives on no floor: give it one in DESIGN.md and here`);
  return fromBelow.indexOf(name);
}

const areaOf = (file: string) => /^areas\/([^/]+)\//.exec(file)?.[1];
const adapterOf = (file: string) => /^adapters\/([^/]+)\//.exec(file)?.[1];
const shown = (wrong: readonly Arrow[]) => wrong.map(({ from, to }) => `${from} → ${to}`);

test('the arrows are found at all', () => {
  assert.ok(files.length > 30, `${files.length} files`);
  const known = (from: string, to: string) => arrows.some((each) => each.from === from && each.to === to);
  assert.ok(known('store/store.ts', 'store/sql.ts'));
  assert.ok(known('store/store.ts', 'config.ts'), 'import type counts');
  for (const { from, to } of arrows) assert.ok(files.includes(to), `${from} names ${to}, which is not there`);
});

test('arrows point down: no file knows one of a higher floor', () => {
  const up = arrows.filter(({ from, to }) => floorOf(to) > floorOf(from));
  assert.deepEqual(shown(up), []);
});

/**
 * A folder of the plan: an area or an adapter with all that is in it, else a folder of src. On the ground, each file is
 * for itself. What an area has on the floor of routes stands apart from it: a project is shown with its environments,
 * which are above it.
 */
function folderOf(file: string): string {
  const folder = /^(?:(?:areas|adapters)\/[^/]+|[^/]+)/.exec(file)?.[0] ?? file;
  const isRoute = floorOf(file) === fromBelow.indexOf('routes');
  return isRoute && folder.startsWith('areas/') ? `${folder}/routes` : folder;
}

/** All that can be reached from a folder, with the way there. */
function waysFrom(start: string, next: ReadonlyMap<string, ReadonlySet<string>>): Map<string, string[]> {
  const ways = new Map<string, string[]>();
  const waiting = [[start]];
  for (let way = waiting.shift(); way; way = waiting.shift()) {
    for (const folder of next.get(way.at(-1) ?? '') ?? []) {
      if (ways.has(folder)) continue;
      ways.set(folder, [...way, folder]);
      waiting.push([...way, folder]);
    }
  }
  return ways;
}

test('no circle: a folder that others are built on knows none of them, by whatever way', () => {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of arrows.map((each) => ({ from: folderOf(each.from), to: folderOf(each.to) })))
    if (from !== to) next.set(from, (next.get(from) ?? new Set()).add(to));
  assert.ok(next.get('areas/domains')?.has('areas/environments'), 'the arrows between areas are seen');
  const circles = [...next.keys()].flatMap((folder) => waysFrom(folder, next).get(folder)?.join(' → ') ?? []);
  assert.deepEqual(circles, []);
});

test('no circle of files: types that two share stand in the file that owns them, below both', () => {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of arrows) next.set(from, (next.get(from) ?? new Set()).add(to));
  const circles = files.flatMap((file) => waysFrom(file, next).get(file)?.join(' → ') ?? []);
  assert.deepEqual(circles, []);
});

test('no context inherits from another: each says what its area uses', () => {
  const inheriting = files.filter((name) =>
    /interface \w*Context\b[^{]*\bextends\b[^{]*Context\b/.test(sourceOf(name)),
  );
  assert.deepEqual(inheriting, []);
});

test('a context has nothing that neither its area uses, nor one that it is handed on to', () => {
  const wide = files.filter(areaOf).flatMap((name) => {
    const area = areaOf(name);
    const below = new Set(arrows.filter(({ from }) => areaOf(from) === area).map(({ to }) => areaOf(to)));
    const text = files
      .filter((each) => below.has(areaOf(each)) && areaOf(each))
      .map(sourceOf)
      .join('\n');
    const declared = sourceOf(name).matchAll(/interface (\w*Context) \{\n(.*?)\n\}/gs);
    return [...declared].flatMap(([block, context, body = '']) => {
      const names = [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, each = '']) => each);
      const used = text.replace(block, '');
      const isUsed = (each: string) => new RegExp(`\\.${each}\\b|[{,]\\s*${each}\\b`).test(used);
      return names.filter((each) => !isUsed(each)).map((each) => `${name} ${context}.${each}`);
    });
  });
  assert.deepEqual(wide, []);
});

test('an area asks another for a use case, never for its SQL', () => {
  const isSql = (file: string) => /(^|\/)([a-z-]+-)?queries\.ts$/.test(file);
  const reaching = arrows.filter(({ from, to }) => isSql(to) && areaOf(from) !== areaOf(to));
  assert.deepEqual(shown(reaching), []);
});

test('adapters know nothing of HTTP, of areas, or of each other', () => {
  const knowing = arrows.filter(({ from, to }) => {
    const own = adapterOf(from);
    if (own === undefined) return false;
    const other = adapterOf(to);
    return /^(http|areas|operations|analysis)\//.test(to) || (other !== undefined && other !== own);
  });
  assert.deepEqual(shown(knowing), []);
});

test('areas speak to the engine, never to Docker or the proxy', () => {
  const isBehind = (file: string) => /^adapters\/(docker|proxy|timers)\//.test(file);
  const around = arrows.filter(({ from, to }) => isBehind(to) && !/^(adapters|engine)\//.test(from));
  assert.deepEqual(shown(around), []);
});

test('no file outside remote/ composes a command line', () => {
  const composing = /(?<![.\w])exec\(|\bchild_process\.exec\b|\bexecSync\b|\bshell:\s*true|\bsh -c\b/;
  const importing = /import\s*\{[^}]*\bexec(Sync)?\b[^}]*\}\s*from\s*['"]node:child_process['"]/;
  const wrong = files.filter((name) => {
    // The analysis speaks of commands all the time, and cannot start one: the next test.
    if (/^(remote|analysis)\//.test(name)) return false;
    const source = sourceOf(name);
    return composing.test(source) || importing.test(source);
  });
  assert.deepEqual(wrong, []);
});

test('the analysis reaches neither files, nor processes, nor the network', () => {
  const outside =
    /^(?:import|export)\b[^;'"]*['"](?:node:)?(?:fs|child_process|net|tls|dns|dgram|https?|http2|cluster|undici)(?:\/\w+)?['"]/m;
  const reaching = files.filter((name) => name.startsWith('analysis/') && outside.test(sourceOf(name)));
  assert.deepEqual(reaching, []);
});

/** Types are gone when the code runs. */
function runtimeArrowsFrom(from: string): Arrow[] {
  const named = sourceOf(from).matchAll(
    /^(?:import|export)\s(?!type\b)[^;'"]*?\bfrom\s+'(\.{1,2}\/[^']+)'|\bimport\(\s*'(\.{1,2}\/[^']+)'/gm,
  );
  return [...named].map(([, path, later]) => ({
    from,
    to: normalize(join(dirname(from), path ?? later ?? '')),
  }));
}

test('whoever wants the service itself to parse a foreign file finds no way: only the process of analyses loads parsers', () => {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of files.flatMap(runtimeArrowsFrom))
    next.set(from, (next.get(from) ?? new Set()).add(to));
  const parsers = /['"](?:yaml|smol-toml|jsonc-parser|oxc-parser|dockerfile-ast|semver|picomatch)['"]/;
  const parsing = new Set(files.filter((name) => parsers.test(sourceOf(name))));
  assert.ok(waysFrom('analysis/process/work.ts', next).has('analysis/readers/yaml.ts'), 'the ways are found');
  for (const start of ['main.ts', 'slipway.ts', 'rotate-keys.ts']) {
    const reached = [...waysFrom(start, next)].filter(([name]) => parsing.has(name));
    assert.deepEqual(
      reached.map(([, way]) => way.join(' → ')),
      [],
    );
  }
});

/** Those above the service reach it over HTTP alone: what they know of it is the document. */
const above: readonly (readonly [folder: string, mayKnow: RegExp])[] = [
  ['sdk', /^sdk\//],
  ['cli', /^(cli|sdk)\//],
  ['web', /^(web|sdk)\//],
];

test('the SDK knows itself alone, those on it the SDK, and the service none of them', () => {
  const wrong = above.flatMap(([folder, mayKnow]) =>
    globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root })
      .flatMap((from) => arrowsOf(from, readFileSync(`${root}${from}`, 'utf8')))
      .filter(({ to }) => !mayKnow.test(to)),
  );
  assert.deepEqual(shown(wrong), []);
  const outside = arrows.filter(({ to }) => to.startsWith('..'));
  assert.deepEqual(shown(outside), []);
  assert.ok(globSync('sdk/**/*.ts', { cwd: root }).length > 5);
  const packages = globSync('sdk/**/*.ts', { cwd: root }).filter((name) =>
    /\bfrom\s+'[^.]/.test(readFileSync(`${root}${name}`, 'utf8')),
  );
  assert.deepEqual(packages, [], 'it runs in a browser and needs nothing');
});

/** The dashboard's own floors, from the ground up. */
const webFloors = ['data', 'ui', 'parts', 'pages', '.'];

test('in the dashboard too, arrows point down and close no circle, and the SDK is taken by its index', () => {
  const names = globSync('web/**/*.{ts,tsx}', { cwd: root }).filter((name) => !/\.test\.ts$/.test(name));
  const found = names.flatMap((from) => arrowsOf(from, readFileSync(`${root}${from}`, 'utf8')));
  const floor = (name: string) => webFloors.indexOf(name.split('/').slice(1, -1)[0] ?? '.');
  assert.ok(found.some(({ from, to }) => from === 'web/routes.tsx' && to === 'web/pages/overview.tsx'));
  for (const name of names) assert.notEqual(floor(name), -1, `${name} lives on no floor`);
  const own = found.filter(({ to }) => to.startsWith('web/'));
  assert.deepEqual(shown(own.filter(({ from, to }) => floor(to) > floor(from))), []);
  const inside = found.filter(({ to }) => to.startsWith('sdk/') && to !== 'sdk/index.ts');
  assert.deepEqual(shown(inside), []);
  const next = new Map<string, Set<string>>();
  for (const { from, to } of own) next.set(from, (next.get(from) ?? new Set()).add(to));
  const circles = names.flatMap((file) => waysFrom(file, next).get(file)?.join(' → ') ?? []);
  assert.deepEqual(circles, []);
});

test('no file is longer than 400 lines', () => {
  const tests = globSync(['{src,test,bench,scripts,lab,cli,web}/**/*.{ts,tsx,mjs,sh}', 'sdk/*.ts'], {
    cwd: root,
  });
  const long = tests
    .map((name) => [name, readFileSync(`${root}${name}`, 'utf8').split('\n').length - 1] as const)
    .filter(([, lines]) => lines > 400);
  assert.deepEqual(long, []);
});
