/**
 * `npm run lockout-campaign -- --runs 50 --seed 1`: breaks hardening off again and again, and fails where nobody can
 * log in afterwards, or the next run does not end well. The same seed breaks at the same moments.
 */
import { parseArgs } from 'node:util';
import { LabClient } from '../../lab/client.ts';
import { launchBound } from '../../lab/launch.ts';
import { whyNot } from '../../lab/needs.ts';
import { Progress } from '../../lab/progress.ts';
import { Random } from '../support/random.ts';
import { Lockouts } from './rounds.ts';

const options = { runs: { type: 'string', default: '50' }, seed: { type: 'string', default: '1' } } as const;
const { values } = parseArgs({ options });
const [runs, seed] = [Number(values.runs), Number(values.seed)];
const reason = whyNot();
if (reason || !Number.isInteger(runs) || runs < 1 || !Number.isInteger(seed)) {
  process.stderr.write(
    reason
      ? `Not here: ${reason}.\n`
      : 'Usage: npm run lockout-campaign -- [--runs <how many>] [--seed <whole number>]\n',
  );
  process.exit(1);
}

const lab = await launchBound(`lockout-${process.pid}`, [], new Progress());
const lockouts = new Lockouts(new LabClient(lab.about.control), lab.about, new Random(seed));
let slowest = 0;
try {
  for (let count = 1; count <= runs; count += 1) {
    const { what, loginAfterMs, firstEnd } = await lockouts.round();
    slowest = Math.max(slowest, loginAfterMs);
    process.stdout.write(
      `${count} of ${runs}: ${what}; login after ${loginAfterMs} ms; it ended as ${firstEnd}\n`,
    );
  }
  process.stdout.write(`${runs} runs, nobody locked out, slowest login after ${slowest} ms\n`);
} finally {
  await lockouts.end();
  await lab.end();
}
