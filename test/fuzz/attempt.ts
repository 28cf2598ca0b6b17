/** One hostile tree, analysed as the service does it: what came of it, and what must not. */
import type { Analyst } from '../../src/analysis/process/analyst.ts';
import { errorText, Fault } from '../../src/fault.ts';
import { hangMs } from '../support/until.ts';
import type { TreeMaker } from './tree-maker.ts';
import { rootDirectoryOf } from './trees.ts';

export interface Outcome {
  readonly number: number;
  readonly kind: 'result' | 'stopped' | 'refused' | 'failed';
  /** Why it was stopped or failed. */
  readonly said: string;
  /** Detectors that threw on it: defects, though none that hurts anyone else. */
  readonly broken: readonly string[];
}

export async function attempt(
  analyst: Analyst,
  maker: TreeMaker,
  seed: number,
  number: number,
): Promise<Outcome> {
  const signal = AbortSignal.timeout(hangMs);
  try {
    const owner = `workspace ${number % 5}`;
    const rootDirectory = rootDirectoryOf(seed, number);
    const { warnings } = await analyst.analyse(owner, maker.tree(seed, number), rootDirectory, signal);
    const broken = warnings.filter(({ code }) => code === 'detector_failed').map(({ message }) => message);
    return { number, kind: 'result', said: '', broken };
  } catch (error) {
    const said = errorText(error);
    const kind = kindOf(error);
    return { number, kind, said, broken: [] };
  }
}

function kindOf(error: unknown): Outcome['kind'] {
  if (!(error instanceof Fault)) return 'failed';
  if (error.code === 'analysis_stopped') return 'stopped';
  return error.code === 'invalid_input' ? 'refused' : 'failed';
}
