import assert from 'node:assert/strict';
import { test } from 'node:test';
import picomatch from 'picomatch';
import { processorSeconds } from '../test/support/processor-time.ts';
import { Random } from '../test/support/random.ts';
import { Globs } from './glob.ts';

function pathFrom(random: Random): string {
  const name = () => {
    const length = random.between(1, 4);
    return Array.from({ length }, () => random.pick('a', 'b', 'c', '.', '-')).join('');
  };
  const names = Array.from({ length: random.between(1, 4) }, name);
  return names.filter((each) => each !== '.' && each !== '..').join('/') || 'a';
}

function patternFrom(random: Random): string {
  const piece = (): string =>
    random.pick('a', 'b', 'c', '.', '-', '*', '*', '?', '[ab]', 'b[^a]', '[a-c]', '{a,b}', '{a,bc}', 'a{c,}');
  const part = () =>
    random.chance(0.2)
      ? '**'
      : Array.from({ length: random.between(1, 3) }, piece)
          .join('')
          .replace(/\*{2,}/g, '*');
  return Array.from({ length: random.between(1, 4) }, part).join('/');
}

test('patterns mean what picomatch takes them for', () => {
  const different = [];
  for (const dot of [false, true]) {
    const random = new Random(7);
    for (let round = 0; round < 2_000; round += 1) {
      const pattern = patternFrom(random);
      const theirs = picomatch(pattern, { dot, nonegate: true, noextglob: true });
      const ours = new Globs([pattern], { dot });
      for (let each = 0; each < 10; each += 1) {
        const path = pathFrom(random);
        if (theirs(path) !== ours.matches(path))
          different.push(`${pattern} on ${path}, dot ${dot}: ${ours.matches(path)}`);
      }
    }
  }
  assert.deepEqual(different.slice(0, 40), []);
});

test('what people write', () => {
  const cases: [pattern: string, yes: string[], no: string[]][] = [
    ['packages/*', ['packages/a'], ['packages', 'packages/a/b', 'packages/.a', 'other/a']],
    ['packages/**', ['packages/a', 'packages/a/b', 'packages'], ['packages/.a', 'package']],
    ['**/src', ['src', 'a/src', 'a/b/src'], ['a/src/b']],
    ['{apps,packages}/{web,api-*}', ['apps/web', 'packages/api-v1'], ['apps/api', 'web']],
    ['a/{b,c/{d,e}}', ['a/b', 'a/c/d', 'a/c/e'], ['a/c']],
    ['{a}', ['{a}'], ['a']],
    ['x{y', ['x{y'], ['xy']],
    ['v[0-9]', ['v1'], ['va', 'v10']],
    ['\\*', ['*'], ['a']],
    ['packages/*/**', ['packages/a/b'], ['packages/a']],
    // Unlike picomatch, and like everyone else.
    ['[!a]', ['b'], ['a', '!a']],
    ['{b,}*', ['a', 'ba'], ['.a']],
  ];
  for (const [pattern, yes, no] of cases) {
    const globs = new Globs([pattern], { dot: false });
    for (const path of yes) assert.ok(globs.matches(path), `${pattern} on ${path}`);
    for (const path of no) assert.ok(!globs.matches(path), `${pattern} on ${path}`);
  }
});

test('whoever wants to stop the service with a pattern cannot: no pattern goes back and forth', () => {
  const patterns = [
    '*a'.repeat(90),
    '**/*a*a*a/'.repeat(18),
    `${'{a,b}'.repeat(38)}*`,
    `${'{'.repeat(200)}`,
    '[a'.repeat(90),
  ];
  const paths = ['a'.repeat(4_000), 'a/'.repeat(2_000), 'ab'.repeat(2_000)];
  const seconds = processorSeconds(() => {
    for (const pattern of patterns)
      for (const path of paths) assert.equal(new Globs([`${pattern}!`], { dot: true }).matches(path), false);
  });
  assert.ok(seconds < 5, `${seconds} s`);
});

test('work that is spent matches nothing, and says so', () => {
  const globs = new Globs(['*a*b'], { dot: true, mostSteps: 1_000 });
  assert.equal(globs.matches('a'.repeat(5_000)), false);
  assert.ok(globs.isSpent);
});
