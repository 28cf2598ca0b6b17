/** The main thread of the process of an analysis: carries messages, and ends the process at its limits. */
import { Worker } from 'node:worker_threads';
import type { FromProcess, Limit, ToProcess } from './messages.ts';

/** A level of nesting in code takes at least one character and up to about 2.5 kB: see `mostParsedBytes`. */
const stackSizeMb = 400;
const heapMb = 400;
const lookMs = 50;
/** Above this much it is not used again: stacks and heaps do not shrink. */
const tiredMb = 300;
/** So long for the service to take note of why; it kills at once. */
const lastWordsMs = 1_000;

export function watch(program: string, cache: string): void {
  // A Ctrl-C is the service's to handle: it may want the result still.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.on('disconnect', kill);
  const at = new SharedArrayBuffer(1_024);
  const worker = new Worker(new URL(program), {
    resourceLimits: { stackSizeMb, maxOldGenerationSizeMb: heapMb },
    env: {},
    workerData: { at, cache },
  });
  let task: Extract<ToProcess, { kind: 'task' }> | undefined;
  let started = process.cpuUsage();
  const tell = (message: FromProcess) => process.send?.(message);
  const end = (limit: Limit) => {
    task = undefined;
    // A result that is too large is no single file's doing.
    tell({ kind: 'over', limit, at: limit === 'size of the result' ? '' : textIn(at) });
    setTimeout(kill, lastWordsMs);
  };
  setInterval(() => {
    if (!task) return;
    const { user, system } = process.cpuUsage(started);
    if ((user + system) / 1_000 > task.limits.cpuMs) end('processor time');
    else if (process.memoryUsage.rss() > task.limits.memoryMb * 2 ** 20) end('memory');
  }, lookMs);
  process.on('message', (message: ToProcess) => {
    if (message.kind === 'task') {
      task = message;
      started = process.cpuUsage();
    }
    worker.postMessage(message);
  });
  worker.on('message', (message: FromProcess) => {
    if (message.kind === 'fault') task = undefined;
    if (message.kind !== 'done') return void tell(message);
    // Nobody is to be held up by taking in the result, either.
    if (task && message.result.length > task.limits.resultBytes) return end('size of the result');
    task = undefined;
    tell({ ...message, isTired: process.memoryUsage.rss() > tiredMb * 2 ** 20 });
  });
  worker.on('error', (error: Error & { code?: string }) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return end('memory');
    // Before a task it is our own program that does not run, and no repository's doing: its end says so at once.
    if (!task) throw error;
    tell({ kind: 'failed', message: error.message });
  });
}

function kill(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** What the other thread has noted there last: text, ended by a zero. */
function textIn(at: SharedArrayBuffer): string {
  const bytes = Buffer.from(new Uint8Array(at));
  return bytes.subarray(0, Math.max(0, bytes.indexOf(0))).toString('utf8');
}
