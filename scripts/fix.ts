/** Puts format and what the linter can mend in order. */
import { runAll } from './commands.ts';

if (!(await runAll(['biome', 'check', '--write', '.']))) process.exitCode = 1;
