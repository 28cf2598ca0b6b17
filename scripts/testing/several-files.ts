/** Several test files in this one process, one after the other; its arguments say which. */
import { join } from 'node:path';
import { root } from '../commands.ts';

for (const file of process.argv.slice(2)) await import(join(root, file));
