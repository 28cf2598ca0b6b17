/** The real service in a process of its own, which analyses one hostile tree after the other and says what came of it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { BusyLoop } from '../support/busy-loop.ts';
import { attempt, type Outcome } from './attempt.ts';
import { TreeMaker } from './tree-maker.ts';

export interface Order {
  readonly seed: number;
  readonly numbers: readonly number[];
  /** Of processor time for one tree: ten thousand at the usual half minute would take days. */
  readonly cpuMs: number;
}

export type Report =
  | { readonly kind: 'ready'; readonly url: string }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  /** How long the loop was busy in one go since the last report, at most. */
  | { readonly kind: 'loop'; readonly busyMs: number }
  | { readonly kind: 'end' };

const atOnce = 4;
const tell = (report: Report) => process.send?.(report);

process.once('message', async ({ seed, numbers, cpuMs }: Order) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'slipway-fuzz-'));
  const config = readConfig({ SLIPWAY_DATA_DIR: dataDir, SLIPWAY_PORT: '0', SLIPWAY_LOG_LEVEL: 'warn' });
  const app = await startApp(config, createLog('warn'), { analysisLimits: { cpuMs } });
  const maker = new TreeMaker();
  const { analyst } = app.contexts.projects;
  const busy = new BusyLoop();
  // As one that is in use: the first answer of a process costs it more than all others.
  await fetch(`${app.url}/healthz`);
  tell({ kind: 'ready', url: app.url });
  const loop = setInterval(() => tell({ kind: 'loop', busyMs: busy.longestMs() }), 200);
  const left = numbers.values();
  const lane = async () => {
    for (const number of left)
      tell({ kind: 'outcome', outcome: await attempt(analyst, maker, seed, number) });
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, lane));
    clearInterval(loop);
    tell({ kind: 'loop', busyMs: busy.longestMs() });
  } finally {
    // From here on nobody is owed an answer.
    tell({ kind: 'end' });
    await maker.close();
    await app.stop();
    rmSync(dataDir, { recursive: true, force: true });
    process.disconnect();
  }
});
process.once('disconnect', () => process.exit());
