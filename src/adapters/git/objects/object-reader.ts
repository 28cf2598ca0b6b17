/**
 * Objects of a repository, many in one process of git, in constant memory. Each one's bytes are held against its name:
 * what was damaged on the disk is noticed here and never handed on as if it were whole.
 */
import { createHash, type Hash } from 'node:crypto';
import { Fault } from '../../../fault.ts';
import { startGit } from '../run-git.ts';

export interface FoundObject {
  readonly oid: string;
  readonly type: string;
  readonly size: number;
  /** Must be read to its end, or skipped, before the next object comes. */
  readonly content: AsyncIterable<Buffer>;
}

/** The mirror lacks something, or has it wrong. It is rebuilt with the next fetch. */
export class DamagedMirror extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'DamagedMirror';
  }
}

/** In the order of the names; undefined for one that is not there. Names are ours: object ids, or refs below refs/mirror. */
export async function* readObjects(
  dir: string,
  names: Iterable<string>,
  signal?: AbortSignal,
): AsyncGenerator<FoundObject | undefined> {
  const list = [...names];
  if (list.length === 0) return;
  // Buffered: git flushes once for all that it was asked, not after each object.
  const args = ['cat-file', '--batch', '--buffer'];
  const git = startGit({ args, dir, ...(signal ? { signal } : {}) });
  git.ended.catch(() => undefined);
  git.stdin.end(`${list.join('\n')}\n`);
  const bytes = new ByteReader(git.stdout);
  try {
    for (const name of list) {
      const head = await bytes.line();
      signal?.throwIfAborted();
      if (head === undefined) {
        await git.ended;
        throw new DamagedMirror(git.said().trim() || `git ended before it had read ${name}`);
      }
      if (head.endsWith(' missing')) {
        yield undefined;
        continue;
      }
      const [, oid = '', type = '', size = ''] = /^([0-9a-f]{40}) ([a-z]+) (\d+)$/.exec(head) ?? [];
      if (oid === '') throw new DamagedMirror(`git answered: ${head.slice(0, 200)}`);
      const content = bytes.exactly(Number(size), oid, createHash('sha1').update(`${type} ${size}\0`));
      yield { oid, type, size: Number(size), content };
      for await (const _ of content) {
        // Whoever took less than all of it does not want the rest.
      }
      if ((await bytes.take(1)) === undefined) throw new DamagedMirror(`${oid} is cut off`);
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    git.kill();
  }
}

export async function contentOf(object: FoundObject, maxBytes: number): Promise<Buffer> {
  if (object.size > maxBytes) {
    throw new Fault('repository_too_large', `A file of the repository is larger than ${maxBytes} bytes.`);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of object.content) chunks.push(chunk);
  const [only] = chunks;
  return chunks.length === 1 && only ? only : Buffer.concat(chunks);
}

class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async line(): Promise<string | undefined> {
    let end = this.#rest.indexOf(10);
    while (end < 0) {
      const from = this.#rest.length;
      if (from > 8_192 || !(await this.#more())) return undefined;
      end = this.#rest.indexOf(10, from);
    }
    const line = this.#rest.subarray(0, end).toString('latin1');
    this.#rest = this.#rest.subarray(end + 1);
    return line;
  }

  /** At most so many bytes, at least one; undefined at the end. */
  async take(most: number): Promise<Buffer | undefined> {
    if (this.#rest.length === 0 && !(await this.#more())) return undefined;
    const taken = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(taken.length);
    return taken;
  }

  /** Can be taken up again where a reader left off; the end checks the hash of all of it. */
  exactly(size: number, oid: string, hash: Hash): AsyncIterable<Buffer> {
    let left = size;
    let isChecked = false;
    const next = async (): Promise<IteratorResult<Buffer>> => {
      if (left > 0) {
        const chunk = await this.take(left);
        if (chunk === undefined) throw new DamagedMirror(`${oid} is cut off`);
        left -= chunk.length;
        hash.update(chunk);
        return { done: false, value: chunk };
      }
      if (!isChecked) {
        isChecked = true;
        if (hash.digest('hex') !== oid) throw new DamagedMirror(`${oid} does not have the bytes of its name`);
      }
      return { done: true, value: undefined };
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (done) return false;
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
    return true;
  }
}
