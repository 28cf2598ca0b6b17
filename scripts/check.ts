/** Types, lint and format. */
import { checks, runAll } from './commands.ts';

if (!(await runAll(...checks))) process.exitCode = 1;
