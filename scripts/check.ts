/** Types, lint and format. */
import { checks, runAll } from './commands.ts';

runAll(...checks);
