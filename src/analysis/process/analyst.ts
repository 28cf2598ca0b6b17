/**
 * The analysis as the service knows it: a task goes to a process of its own, and comes back as a result or a fault. The
 * service reads none of the files itself; it hands them on. What goes beyond a limit fails for good, and says why.
 */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type Child, ChildEnded } from '../../adapters/sandbox/child.ts';
import { ChildPool } from '../../adapters/sandbox/child-pool.ts';
import { apiFaultCodes, Fault, type FaultCode } from '../../fault.ts';
import type { BuildOrder, GeneratedBuild } from '../dockerfile/generate-dockerfile.ts';
import { type ProcessLimits, processLimits } from '../limits.ts';
import type { AnalysisResult } from '../result.ts';
import type { FileTree, TreeEntry } from '../tree.ts';
import type { FromProcess, Limit, Task, ToldFault, ToProcess } from './messages.ts';

/** So many entries are handed over at a time; the service does other things in between. */
const entriesAtOnce = 500;
/** An analysis takes one processor; the service and its database need the rest. */
const mostRunning = Math.min(2, availableParallelism());

export class Analyst {
  readonly #limits: ProcessLimits;
  readonly #pool: ChildPool;

  constructor(limits: Partial<ProcessLimits> = {}) {
    this.#limits = { ...processLimits, ...limits };
    this.#pool = new ChildPool({ program: program(), mostRunning, idleMs: 30_000, startMs: 60_000 });
  }

  /** For whoever will ask soon: starting a process takes longer than most analyses. */
  warm(): void {
    this.#pool.warm();
  }

  async analyse(
    owner: string,
    tree: FileTree,
    rootDirectory: string,
    signal: AbortSignal,
  ): Promise<AnalysisResult> {
    return JSON.parse(await this.#perform(owner, tree, { kind: 'analyse', rootDirectory }, signal));
  }

  async dockerfile(
    owner: string,
    tree: FileTree,
    order: BuildOrder,
    signal: AbortSignal,
  ): Promise<GeneratedBuild> {
    return JSON.parse(await this.#perform(owner, tree, { kind: 'dockerfile', order }, signal));
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #perform(owner: string, tree: FileTree, task: Task, signal: AbortSignal): Promise<string> {
    const end = await this.#pool.run(owner, signal, async (child) => {
      let isTimeOver = false;
      const timer = setTimeout(() => {
        isTimeOver = true;
        child.kill();
      }, this.#limits.wallMs);
      try {
        return await this.#converse(child, tree, task, signal);
      } catch (error) {
        if (isTimeOver) throw this.#stopped('time', '');
        throw error instanceof ChildEnded ? brokenOff(error) : error;
      } finally {
        clearTimeout(timer);
      }
    });
    if (end.kind === 'fault') throw faultOf(end.fault);
    return end.result;
  }

  async #converse(child: Child, tree: FileTree, task: Task, signal: AbortSignal): Promise<Ended> {
    const send = (message: ToProcess) => child.send(message);
    let listed: readonly TreeEntry[] = [];
    await send({ kind: 'task', task, limits: this.#limits });
    for (;;) {
      const message = readMessage(await child.receive());
      switch (message.kind) {
        case 'ready':
          break;
        case 'list': {
          const { entries, isComplete } = await tree.list(message.most, signal);
          listed = entries;
          await sendEntries(send, entries);
          await send({ kind: 'listed', isComplete });
          break;
        }
        case 'read': {
          const places = new Map(message.files.map((at) => [listed[at]?.path ?? '', at]));
          for (const [path, content] of await tree.read([...places.keys()], signal))
            await send({ kind: 'file', at: places.get(path) ?? -1, content });
          await send({ kind: 'read' });
          break;
        }
        case 'done':
          return { value: message, isReusable: !message.isTired };
        case 'over':
          throw this.#stopped(message.limit, message.at);
        case 'fault':
          return { value: message, isReusable: true };
        case 'failed':
          throw new Error(`the analysis failed: ${message.message}`);
      }
    }
  }

  #stopped(limit: Limit, at: string): Fault {
    const { cpuMs, memoryMb, wallMs, resultBytes } = this.#limits;
    const most: Record<Limit, string> = {
      'processor time': `${cpuMs / 1_000} seconds of processor time`,
      memory: `${memoryMb} MB of memory`,
      time: `${wallMs / 1_000} seconds`,
      'size of the result': `${resultBytes} bytes of findings`,
    };
    const where = at === '' ? '' : ` It was at ${at}.`;
    return new Fault(
      'analysis_stopped',
      `The analysis of the repository needs more than ${most[limit]}.${where}`,
      {
        hint,
        ...(at !== '' && { evidence: at }),
      },
    );
  }
}

interface Ended {
  readonly value: Extract<FromProcess, { kind: 'done' | 'fault' }>;
  readonly isReusable: boolean;
}

const hint =
  'Set `rootDirectory` to the folder of the app, or take the file out of the repository; then start the analysis again.';

async function sendEntries(send: (message: ToProcess) => Promise<void>, entries: readonly TreeEntry[]) {
  for (let from = 0; from < entries.length; from += entriesAtOnce) {
    const some = entries.slice(from, from + entriesAtOnce);
    await send({ kind: 'entries', entries: some.map(({ path, type, size }) => ({ path, type, size })) });
  }
}

function brokenOff({ signal, message }: ChildEnded): Fault {
  const how = signal === null ? '' : ` (${signal})`;
  return new Fault('analysis_stopped', `A file of the repository broke off its analysis${how}.`, {
    hint,
    evidence: message.slice(0, 500),
  });
}

function faultOf({ code, message, hint: told, evidence, errors }: ToldFault): Fault {
  return new Fault(isFaultCode(code) ? code : 'internal_error', message, {
    ...(told !== undefined && { hint: told }),
    ...(evidence !== undefined && { evidence }),
    ...(errors !== undefined && { errors }),
  });
}

function isFaultCode(code: string): code is FaultCode {
  return Object.hasOwn(apiFaultCodes, code);
}

const kinds: readonly string[] = [
  'ready',
  'list',
  'read',
  'done',
  'fault',
  'failed',
  'over',
] satisfies FromProcess['kind'][];

function readMessage(message: unknown): FromProcess {
  if (!isFromProcess(message)) throw new Error('the process of an analysis said something unknown');
  return message;
}

function isFromProcess(message: unknown): message is FromProcess {
  return kinds.includes(Object(message).kind);
}

/** All that knows where the code lies: a build that puts it elsewhere changes this. */
function program() {
  const place = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  return {
    entry: place('./child.ts'),
    reads: [place('../../../src'), place('../../../node_modules'), place('../../../package.json')],
    cache: place('../../../node_modules/.cache/slipway-analysis'),
  };
}
