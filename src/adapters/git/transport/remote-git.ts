/** Runs git against one repository elsewhere: asks what it has, and fetches from it. */
import { join } from 'node:path';
import { setInterval } from 'node:timers';
import { Fault } from '../../../fault.ts';
import { bytesIn } from '../files-in.ts';
import type { GitUrl } from '../git-url.ts';
import { isRefName } from '../refs.ts';
import { GitFailure, startGit } from '../run-git.ts';
import { type Explained, explainGit } from './git-faults.ts';
import type { Transport } from './transport.ts';

export interface Progress {
  /** Of the phase that is under way, from 0 to 1. */
  readonly fraction: number;
  /** The phase in git's own words, `Receiving objects` for example. */
  readonly text: string;
}

export interface RemoteRefs {
  /** The default branch; undefined where the repository is empty. */
  readonly head: string | undefined;
  /** Names to commits. */
  readonly branches: ReadonlyMap<string, string>;
  readonly tags: ReadonlyMap<string, string>;
}

/** A run that failed, with what git's words mean. */
export class RemoteGitFailure extends Error {
  readonly explained: Explained;
  constructor(explained: Explained) {
    super(explained.fault.message, { cause: explained.fault });
    this.name = 'RemoteGitFailure';
    this.explained = explained;
  }
}

const mostRefBytes = 64 * 1024 * 1024;
/** How often the size of what arrives is looked at. */
const watchMs = 100;

export class RemoteGit {
  readonly #url: GitUrl;
  readonly #transport: Transport;
  readonly #signal: AbortSignal;
  readonly #memoryBytes: number;

  constructor(url: GitUrl, transport: Transport, signal: AbortSignal, memoryBytes: number) {
    this.#url = url;
    this.#transport = transport;
    this.#signal = signal;
    this.#memoryBytes = memoryBytes;
  }

  async refs(): Promise<RemoteRefs> {
    const chunks: Buffer[] = [];
    let size = 0;
    await this.#run(['ls-remote', '--symref', '--', this.#url.text], {
      onData: (chunk) => {
        size += chunk.length;
        if (size > mostRefBytes)
          throw new Fault('repository_too_large', 'The repository has too many branches.');
        chunks.push(chunk);
      },
    });
    return parseRefs(Buffer.concat(chunks));
  }

  async defaultBranch(): Promise<string> {
    const { head, branches } = await this.refs();
    if (head !== undefined) return head;
    if (branches.size > 0)
      throw new Fault('commit_not_found', 'The repository has no default branch.', {
        hint: 'Name the branch.',
      });
    throw new Fault('commit_not_found', 'The repository is empty: it has no commit yet.', {
      hint: 'Push something first.',
    });
  }

  /** The commits of the refspecs with all their files; their history only where it is asked for. */
  async fetch(
    dir: string,
    refspecs: readonly string[],
    options: {
      readonly maxBytes: number;
      /** Called while it grows; fails where it is too much for another reason. */
      readonly watch: () => void;
      readonly withHistory?: boolean;
      readonly onProgress?: ((progress: Progress) => void) | undefined;
    },
  ): Promise<void> {
    const { maxBytes, watch, onProgress } = options;
    const depth = options.withHistory ? 2 ** 31 - 1 : 1;
    const args = [
      'fetch',
      '--progress',
      '--no-tags',
      '--no-write-fetch-head',
      '--no-auto-maintenance',
      '--no-recurse-submodules',
      '--update-shallow',
      `--depth=${depth}`,
      '--stdin',
      '--',
      this.#url.text,
    ];
    const tooLarge = () =>
      new Fault(
        'repository_too_large',
        `The repository is larger than ${Math.round(maxBytes / 2 ** 20)} MiB.`,
        {
          hint: 'Take large files out of it, or keep them in Git LFS; an administrator can raise the limit.',
        },
      );
    const check = () => {
      if (bytesIn(join(dir, 'objects', 'pack')) > maxBytes) throw tooLarge();
      watch();
    };
    await this.#run(args, {
      dir,
      input: `${refspecs.join('\n')}\n`,
      watch: check,
      onSaid: (said) => {
        const [, phase, percent] = [...said.matchAll(/([A-Z][a-z]+ [a-z]+):\s+(\d+)%/g)].at(-1) ?? [];
        if (phase !== undefined) onProgress?.({ fraction: Number(percent) / 100, text: phase });
      },
    });
    check();
  }

  async #run(
    args: readonly string[],
    work: {
      readonly dir?: string;
      readonly input?: string;
      readonly watch?: () => void;
      readonly onData?: (chunk: Buffer) => void;
      readonly onSaid?: (text: string) => void;
    },
  ): Promise<void> {
    const { settings, env, withChannel } = this.#transport;
    const { dir, onSaid, onData, watch } = work;
    const git = startGit({
      args,
      settings,
      env,
      withChannel,
      signal: this.#signal,
      memoryBytes: this.#memoryBytes,
      ...(dir === undefined ? {} : { dir }),
      ...(onSaid ? { onSaid } : {}),
    });
    let stopped: unknown;
    const orStop = (step: () => void) => {
      try {
        step();
      } catch (error) {
        stopped ??= error;
        git.kill();
      }
    };
    git.stdin.end(work.input ?? '');
    git.stdout.on('data', (chunk: Buffer) => orStop(() => onData?.(chunk)));
    if (git.channel) this.#transport.attach(git.channel);
    const watching = watch && setInterval(() => orStop(watch), watchMs);
    try {
      const code = await git.ended;
      this.#signal.throwIfAborted();
      if (stopped !== undefined) throw stopped;
      if (code === 0) return;
      const failure = new GitFailure(args[0] ?? '', code, git.said());
      const { secrets } = this.#transport;
      throw new RemoteGitFailure(
        explainGit(failure, { url: this.#url, more: this.#transport.said(), secrets }),
      );
    } finally {
      clearInterval(watching);
      git.channel?.destroy();
    }
  }
}

function parseRefs(output: Buffer): RemoteRefs {
  let head: string | undefined;
  const branches = new Map<string, string>();
  const tags = new Map<string, string>();
  for (const line of output.toString('utf8').split('\n')) {
    const [value = '', name = ''] = line.split('\t');
    if (name === 'HEAD' && value.startsWith('ref: refs/heads/'))
      head = value.slice('ref: refs/heads/'.length);
    const [, kind, short = '', peeled] = /^refs\/(heads|tags)\/(.+?)(\^\{\})?$/.exec(name) ?? [];
    // A name that is not UTF-8 could not be asked for again.
    if (kind === undefined || short.includes('\ufffd') || !isRefName(short)) continue;
    if (kind === 'heads') branches.set(short, value);
    else if (peeled !== undefined || !tags.has(short)) tags.set(short, value);
  }
  return { head: head !== undefined && branches.has(head) ? head : undefined, branches, tags };
}
