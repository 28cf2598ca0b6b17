/** The working thread of the process of an analysis: one task after the other, each from the files that it asks for. */
import module from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { Fault } from '../../fault.ts';
import type { FileTree, TreeEntry } from '../tree.ts';
import type { FromProcess, Task, ToldFault, ToProcess } from './messages.ts';

const { at, cache } = workerData;
if (cache !== '') module.enableCompileCache(cache);
const { analyse } = await import('../analysis.ts');
const { dockerfileFor } = await import('../dockerfile/generate-dockerfile.ts');
// Nobody waits for a process that is killed to write down what it compiled.
module.flushCompileCache();

const arrived: ToProcess[] = [];
let wanted: ((message: ToProcess) => void) | undefined;
const never = new AbortController().signal;
const noted = new Uint8Array(at);
const encoder = new TextEncoder();

parentPort?.on('message', (message: ToProcess) => {
  if (message.kind === 'task') void perform(message.task);
  else if (wanted) wanted(message);
  else arrived.push(message);
});
tell({ kind: 'ready' });

function tell(message: FromProcess): void {
  parentPort?.postMessage(message);
}

function next(): Promise<ToProcess> {
  const first = arrived.shift();
  if (first) return Promise.resolve(first);
  return new Promise((resolve) => {
    wanted = (message) => {
      wanted = undefined;
      resolve(message);
    };
  });
}

async function perform(task: Task): Promise<void> {
  try {
    const result = JSON.stringify(await resultOf(task));
    tell({ kind: 'done', result, isTired: false });
  } catch (error) {
    if (error instanceof Fault) tell({ kind: 'fault', fault: toldOf(error) });
    else
      tell({
        kind: 'failed',
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
  }
}

function resultOf(task: Task): Promise<unknown> {
  const tree = treeOfService();
  if (task.kind === 'dockerfile') return dockerfileFor(tree, task.order, never);
  const { rootDirectory } = task;
  return analyse(tree, { signal: never, rootDirectory, note });
}

/** Read by the other thread when this one is stuck; a path that is cut off still tells. */
function note(what: string): void {
  const { written } = encoder.encodeInto(what.slice(0, 300), noted.subarray(0, noted.length - 1));
  noted[written] = 0;
}

function treeOfService(): FileTree {
  const entries: TreeEntry[] = [];
  const places = new Map<string, number>();
  return {
    async list(most) {
      tell({ kind: 'list', most });
      for (;;) {
        const message = await next();
        if (message.kind === 'listed') return { entries, isComplete: message.isComplete };
        if (message.kind !== 'entries') continue;
        for (const entry of message.entries) {
          places.set(entry.path, entries.length);
          entries.push(entry);
        }
      }
    },
    async read(paths) {
      tell({ kind: 'read', files: paths.flatMap((path) => places.get(path) ?? []) });
      const found = new Map<string, Buffer>();
      for (;;) {
        const message = await next();
        if (message.kind === 'read') return found;
        if (message.kind !== 'file') continue;
        const { buffer, byteOffset, byteLength } = message.content;
        const path = entries[message.at]?.path;
        if (path !== undefined) found.set(path, Buffer.from(buffer, byteOffset, byteLength));
      }
    },
  };
}

function toldOf({ code, message, hint, evidence, errors }: Fault): ToldFault {
  return { code, message, hint, evidence, errors };
}
