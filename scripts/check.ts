/** Types, lint and format. */
import { runAll } from './commands.ts';

runAll(['tsc', '-p', '.'], ['biome', 'ci', '--error-on-warnings', '.']);
