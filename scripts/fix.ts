/** Puts format and what the linter can mend in order. */
import { runAll } from './commands.ts';

runAll(['biome', 'check', '--write', '.']);
