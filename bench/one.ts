/** Run by `run.ts` in a process of its own: one bench, its outcome told to the parent. */
import { benches } from './benches.ts';
import { assertMeasured, LeftOut } from './figure.ts';
import type { Outcome } from './table.ts';

const bench = benches[process.argv[2] ?? ''];
if (!bench || !process.send) throw new Error('This is run by `npm run bench`.');
const outcome = await measured(bench.run);
process.send(outcome, () => process.exit(outcome.state === 'failed' ? 1 : 0));

async function measured(run: () => ReturnType<(typeof benches)[string]['run']>): Promise<Outcome> {
  try {
    const figures = await run();
    assertMeasured(figures);
    return { state: 'measured', figures };
  } catch (error) {
    if (error instanceof LeftOut) return { state: 'left out', reason: error.message };
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    const said = error instanceof Error ? error.message : String(error);
    return { state: 'failed', reason: said.slice(0, 100) };
  }
}
