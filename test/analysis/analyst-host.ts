/** For a test to kill: a process that waits for an analysis without end. */
import { Analyst } from '../../src/analysis/process/analyst.ts';
import { MemoryTree } from '../../src/analysis/tree.ts';
import { hangMs } from '../support/until.ts';

const files = { 'package.json': '{}', 'bomb.js': `process.env.A;${'(a='.repeat(9_000)}` };
const limits = { cpuMs: hangMs, wallMs: hangMs };
await new Analyst(limits).analyse('owner', new MemoryTree(files), '', AbortSignal.timeout(hangMs));
