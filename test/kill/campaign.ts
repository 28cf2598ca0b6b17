/**
 * `npm run kill-campaign -- --kills 200 --seed 1`: kills the service again and again under writes, and fails where
 * anything that it acknowledged is lost. The same seed kills in the same ways, at the same moments.
 */
import { readArguments } from '../../scripts/arguments.ts';
import { Random } from '../support/random.ts';
import { Campaign } from './rounds.ts';

const options = {
  kills: { type: 'string', default: '200' },
  seed: { type: 'string', default: '1' },
} as const;
const usage = 'Usage: npm run kill-campaign -- [--kills <how many>] [--seed <whole number>]';
const { values } = readArguments({ options }, usage);
const [kills, seed] = [Number(values.kills), Number(values.seed)];
if (!Number.isInteger(kills) || kills < 1 || !Number.isInteger(seed)) {
  process.stderr.write(`${usage}\n`);
  process.exit(1);
}

const campaign = new Campaign(new Random(seed));
process.on('exit', () => campaign.endNow());
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => void campaign.end().finally(() => process.exit(1)));
}

let lost = 0;
try {
  for (let count = 1; count <= kills; count += 1) {
    const { what, losses } = await campaign.round();
    lost += losses.length;
    for (const loss of losses) process.stderr.write(`Lost after kill ${count} (${what}): ${loss}\n`);
    report(count, what);
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await campaign.end();
}
if (lost > 0) process.exitCode = 1;
if (process.exitCode === undefined || lost > 0) {
  process.stdout.write(`${kills} kills, ${campaign.acknowledged} acknowledged writes, ${lost} lost\n`);
}

function report(count: number, what: string): void {
  const line = `${count} of ${kills}: ${what}; ${campaign.acknowledged} acknowledged writes, ${lost} lost`;
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${line}${count === kills ? '\n' : ''}`);
  else if (count % 10 === 0) process.stdout.write(`${line}\n`);
}
