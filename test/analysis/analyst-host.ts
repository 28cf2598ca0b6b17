/** For a test to kill: a process that waits for an analysis without end. */
import { Analyst } from '../../src/analysis/process/analyst.ts';
import { MemoryTree } from '../../src/analysis/tree.ts';
import { hangMs } from '../support/until.ts';

const files = { 'package.json': '{}', 'bomb.js': `process.env.A;${'(a='.repeat(9_000)}` };
/** More memory than it is usually allowed: that would end it in the same second in which it is killed here. */
const limits = { cpuMs: hangMs, wallMs: hangMs, memoryMb: 4_096 };
await new Analyst(limits).analyse('owner', new MemoryTree(files), '', AbortSignal.timeout(hangMs));
