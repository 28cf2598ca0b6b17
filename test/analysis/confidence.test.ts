/** A confidence that means something: what is said with a high one is right, whatever was done to the repository. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyse } from '../../src/analysis/analysis.ts';
import { MemoryTree } from '../../src/analysis/tree.ts';
import { hangMs } from '../support/until.ts';
import { differences, readFixtures, readHardFixtures } from './fixtures.ts';
import { mutations } from './mutations.ts';

/** From here on nobody looks twice. */
const high = 0.8;

interface Count {
  all: number;
  high: number;
  readonly wrong: string[];
}

test('of answers with a high confidence at least 99 of 100 are right', async () => {
  const count: Count = { all: 0, high: 0, wrong: [] };
  for (const fixture of readFixtures()) {
    await look(count, fixture.name, fixture.expected.apps, { files: fixture.files });
    for (const { name, make } of mutations) {
      const mutated = make(fixture);
      if (mutated) await look(count, `${fixture.name}, ${name}`, fixture.expected.apps, mutated);
    }
  }
  for (const { name, expected, files } of readHardFixtures())
    await look(count, name, expected.apps, { files });
  const right = 1 - count.wrong.length / count.high;
  assert.ok(right >= 0.99, `${(right * 100).toFixed(2)} %: ${count.wrong.join('; ')}`);
  // One that is never sure would be right as well.
  assert.ok(
    count.high / count.all > 0.6,
    `only ${count.high} of ${count.all} answers have a high confidence`,
  );
});

test('repositories that cannot be understood get an answer of low confidence, or none', async () => {
  const hard = readHardFixtures();
  assert.ok(hard.length >= 5);
  for (const { name, files } of hard) {
    const { apps } = await analyse(new MemoryTree(files), { signal: AbortSignal.timeout(hangMs) });
    for (const { path, confidence } of apps)
      assert.ok(confidence < high, `${name}: ${path} has ${confidence}`);
  }
});

interface Looked {
  readonly files: Readonly<Record<string, string>>;
  readonly rootDirectory?: string;
  readonly seenFrom?: string;
}

async function look(
  count: Count,
  name: string,
  expected: unknown,
  { files, rootDirectory = '', seenFrom = rootDirectory }: Looked,
): Promise<void> {
  const signal = AbortSignal.timeout(hangMs);
  const { apps } = await analyse(new MemoryTree(files), { signal, rootDirectory });
  const text = JSON.stringify(apps);
  const seen: typeof apps = JSON.parse(
    seenFrom === '' ? text : text.replaceAll(`${seenFrom}/`, '').replaceAll(`"${seenFrom}"`, '"."'),
  );
  for (const [index, app] of seen.entries()) {
    count.all += 1;
    if (app.confidence < high) continue;
    count.high += 1;
    const meant = Array.isArray(expected)
      ? expected.find(({ path }, at) => (path === undefined ? at === index : path === app.path))
      : undefined;
    const wrong = meant ? differences(meant, app) : ['no app is there'];
    if (wrong.length > 0) count.wrong.push(`${name}: ${wrong.join(', ')}`);
  }
}
