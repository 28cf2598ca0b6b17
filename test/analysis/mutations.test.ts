/**
 * What changes nothing for whoever runs the app must change nothing in the answer: a file beside it, a dependency that
 * has nothing to do with it, a script that nobody calls, the folder it lies in.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyse } from '../../src/analysis/analysis.ts';
import type { AnalysisResult } from '../../src/analysis/result.ts';
import { MemoryTree } from '../../src/analysis/tree.ts';
import { hangMs } from '../support/until.ts';
import { differences, readFixtures } from './fixtures.ts';
import { type Mutated, mutations } from './mutations.ts';

const fixtures = readFixtures();

async function answer({ files, rootDirectory = '', seenFrom = rootDirectory }: Mutated): Promise<unknown> {
  const signal = AbortSignal.timeout(hangMs);
  const result = await analyse(new MemoryTree(files), { signal, rootDirectory });
  return plain(result, seenFrom);
}

/** Without what is about the looking itself, and with paths as they are seen from the folder of the app. */
function plain(result: AnalysisResult, folder: string): unknown {
  const { evidence: _evidence, warnings, languages: _languages, monorepo: _monorepo, ...rest } = result;
  const apps = rest.apps.map(({ confidence: _confidence, ...app }) => app);
  // That a second lock file is there is said, and changes nothing else.
  const codes = [...new Set(warnings.map(({ code }) => code))]
    .filter((code) => code !== 'two_lock_files')
    .sort();
  const text = JSON.stringify({ ...rest, apps, warnings: codes });
  return JSON.parse(
    folder === '' ? text : text.replaceAll(`${folder}/`, '').replaceAll(`"${folder}"`, '"."'),
  );
}

for (const { name, about, make } of mutations) {
  test(`${name}: ${about}`, async () => {
    const different: string[] = [];
    let count = 0;
    for (const fixture of fixtures) {
      const mutated = make(fixture);
      if (!mutated) continue;
      count += 1;
      const [before, after] = [await answer({ files: fixture.files }), await answer(mutated)];
      for (const each of differences(before, after)) different.push(`${fixture.name}: ${each}`);
    }
    assert.ok(count >= 5, `only ${count} fixtures can be changed so`);
    assert.deepEqual(different, []);
  });
}
