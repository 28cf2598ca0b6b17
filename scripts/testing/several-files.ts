/** Several test files in this one process, one after the other; its arguments say which. */
import { join } from 'node:path';
import { before } from 'node:test';
import { root } from '../commands.ts';

// Tests begin once all files are there: Node runs the `after` of every file as soon as no test is left, and would take
// away what the tests of a file need that was still being loaded.
const loaded = Promise.withResolvers<void>();
before(() => loaded.promise);
for (const file of process.argv.slice(2)) await import(join(root, file));
loaded.resolve();
