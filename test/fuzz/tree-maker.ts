/**
 * Hostile trees on a thread of their own, handed over in parts as git does: making one takes longer than handing it on,
 * and would be taken for the service's own doing.
 */
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import type { FileTree, TreeEntry } from '../../src/analysis/tree.ts';
import { type HostileTree, hostileTree } from './trees.ts';

type Question =
  | { readonly kind: 'list'; readonly seed: number; readonly number: number; readonly most: number }
  /** The next part of the list: all at once, they would be taken in in one go, which no pipe of git's does. */
  | { readonly kind: 'more' }
  | { readonly kind: 'read'; readonly seed: number; readonly number: number; readonly path: string };

type Answer =
  | { readonly kind: 'entries'; readonly entries: readonly TreeEntry[] }
  | { readonly kind: 'listed'; readonly isComplete: boolean }
  | { readonly kind: 'file'; readonly content: Uint8Array | undefined };

const atOnce = 500;

export class TreeMaker {
  readonly #worker = new Worker(new URL(import.meta.url));
  readonly #arrived: Answer[] = [];
  #wake: () => void = () => undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor() {
    this.#worker.on('message', (answer: Answer) => {
      this.#arrived.push(answer);
      this.#wake();
    });
  }

  tree(seed: number, number: number): FileTree {
    return {
      list: (most) => this.#inTurn(() => this.#list({ kind: 'list', seed, number, most })),
      read: async (paths) => {
        const found = new Map<string, Buffer>();
        for (const path of paths) {
          const content = await this.#inTurn(() => this.#read({ kind: 'read', seed, number, path }));
          if (content) found.set(path, Buffer.from(content.buffer, content.byteOffset, content.byteLength));
        }
        return found;
      },
    };
  }

  close(): Promise<number> {
    return this.#worker.terminate();
  }

  async #list(question: Question) {
    this.#worker.postMessage(question);
    const entries: TreeEntry[] = [];
    for (;;) {
      const answer = await this.#next();
      if (answer.kind === 'listed') return { entries, isComplete: answer.isComplete };
      if (answer.kind === 'entries') for (const entry of answer.entries) entries.push(entry);
      this.#worker.postMessage({ kind: 'more' } satisfies Question);
    }
  }

  async #read(question: Question): Promise<Uint8Array | undefined> {
    this.#worker.postMessage(question);
    const answer = await this.#next();
    return answer.kind === 'file' ? answer.content : undefined;
  }

  async #next(): Promise<Answer> {
    while (this.#arrived.length === 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    const [first] = this.#arrived.splice(0, 1);
    if (!first) throw new Error('nothing has arrived');
    return first;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}

if (!isMainThread && parentPort) {
  const port = parentPort;
  const made = new Map<string, HostileTree>();
  const treeFor = (seed: number, number: number) => {
    const key = `${seed} ${number}`;
    const known = made.get(key) ?? hostileTree(seed, number);
    made.delete(key);
    made.set(key, known);
    const [oldest = ''] = made.keys();
    if (made.size > 8) made.delete(oldest);
    return known;
  };
  const tell = (answer: Answer) => port.postMessage(answer);
  const listOf = function* (entries: Iterable<TreeEntry>, most: number): Generator<Answer, Answer> {
    let part: TreeEntry[] = [];
    let count = 0;
    for (const entry of entries) {
      if (count === most) break;
      count += 1;
      part.push(entry);
      if (part.length < atOnce) continue;
      yield { kind: 'entries', entries: part };
      part = [];
    }
    yield { kind: 'entries', entries: part };
    return { kind: 'listed', isComplete: count < most };
  };
  let list: Iterator<Answer, Answer> | undefined;
  port.on('message', (question: Question) => {
    if (question.kind === 'read') {
      const { contents } = treeFor(question.seed, question.number);
      return tell({ kind: 'file', content: contents.get(question.path) });
    }
    if (question.kind === 'list')
      list = listOf(treeFor(question.seed, question.number).entries(), question.most);
    const answer = list?.next();
    if (answer) tell(answer.value);
  });
}
