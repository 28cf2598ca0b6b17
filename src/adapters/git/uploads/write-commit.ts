/** Writes a commit of what arrives into an empty repository: by one process of git, into one pack, nothing held. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { GitFailure, type GitProcess, runGit, type Setting, startGit } from '../run-git.ts';
import { refusedArchive } from './archive-faults.ts';
import type { CheckedEntry } from './checked-entries.ts';

export interface NewCommit {
  readonly author: string;
  readonly message: string;
  readonly at: Date;
}

const ref = 'refs/upload/tree';
const settings: readonly Setting[] = [
  // Unlike what was fetched, it cannot be had again.
  ['core.fsync', 'all'],
  // A pack also where the files are few: its size is what an upload takes.
  ['fastimport.unpackLimit', '1'],
  // An upload is waited for; what it takes on the disk goes with its release.
  ['pack.compression', '1'],
];

/** Gives the id of the commit. `onGrowth` is called now and then, and may fail. */
export async function writeCommit(
  dir: string,
  entries: AsyncIterable<CheckedEntry>,
  commit: NewCommit,
  { signal, onGrowth }: { readonly signal: AbortSignal; readonly onGrowth: () => void },
): Promise<string> {
  const git = startGit({ args: ['fast-import', '--quiet', '--done', '--depth=0'], dir, settings, signal });
  git.stdout.resume();
  const ended = git.ended;
  ended.catch(() => undefined);
  try {
    const input = new Input(git, onGrowth);
    await input.write(head(commit));
    for await (const entry of entries) await writeEntry(input, entry);
    await input.write('done\n');
    git.stdin.end();
    if ((await ended) !== 0) throw failureOf(git, await ended);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    git.kill();
  }
  const sha = await runGit({ args: ['rev-parse', '--verify', ref], dir, signal });
  return sha.toString().trim();
}

function head({ author, message, at }: NewCommit): string {
  const who = `${author.replace(/[<>\p{Cc}\s]+/gu, ' ').trim() || 'unknown'} <>`;
  const when = `${Math.floor(at.getTime() / 1000)} +0000`;
  const text = Buffer.byteLength(message);
  return `commit ${ref}\nauthor ${who} ${when}\ncommitter ${who} ${when}\ndata ${text}\n${message}\n`;
}

async function writeEntry(input: Input, entry: CheckedEntry): Promise<void> {
  const path = quoted(entry.path);
  if (entry.type === 'copy') return input.write(`C ${quoted(entry.of)} ${path}\n`);
  if (entry.type === 'symlink') {
    const { target } = entry;
    return input.write(`M 120000 inline ${path}\ndata ${Buffer.byteLength(target)}\n${target}\n`);
  }
  await input.write(`M ${entry.isExecutable ? 100755 : 100644} inline ${path}\ndata ${entry.size}\n`);
  for await (const chunk of entry.content) await input.write(chunk);
  await input.write('\n');
}

function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

const growthBytes = 8 * 2 ** 20;

/** Waits where git is slower than what arrives, and ends where git has. */
class Input {
  readonly #git: GitProcess;
  readonly #stdin: Writable;
  readonly #onGrowth: () => void;
  #sinceLook = 0;

  constructor(git: GitProcess, onGrowth: () => void) {
    this.#git = git;
    this.#stdin = git.stdin;
    this.#onGrowth = onGrowth;
  }

  async write(piece: string | Buffer): Promise<void> {
    this.#sinceLook += piece.length;
    if (this.#sinceLook > growthBytes) {
      this.#sinceLook = 0;
      this.#onGrowth();
    }
    if (!this.#stdin.writable) throw failureOf(this.#git, await this.#git.ended);
    if (this.#stdin.write(piece)) return;
    const waiting = new AbortController();
    const drained = once(this.#stdin, 'drain', { signal: waiting.signal }).then(() => undefined);
    drained.catch(() => undefined);
    const end = await Promise.race([drained, this.#git.ended.then((code) => ({ code }))]);
    waiting.abort();
    if (end) throw failureOf(this.#git, end.code);
  }
}

function failureOf(git: GitProcess, code: number | null): Error {
  const said = git.said();
  const invalid = /fatal: invalid path '(.*)'/i.exec(said)?.[1];
  if (invalid !== undefined)
    return refusedArchive(`Git does not take a file by the name «${invalid.slice(0, 200)}».`);
  return new GitFailure('fast-import', code, said);
}
