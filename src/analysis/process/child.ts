/**
 * The program of the process that looks at foreign files. Its main thread computes nothing: it carries messages and
 * watches, so that it can end the process however busy the other thread is. The other one does the work, with a stack
 * that no file overruns. Both are this file, so that a build has one entry for it.
 */
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  const { watch } = await import('./watch.ts');
  watch(import.meta.url, process.argv[2] ?? '');
} else await import('./work.ts');
