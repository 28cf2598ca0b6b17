/** What the tests of the mirrors share: a Git host of their own, mirrors in a folder of their own, odd repositories. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { extract } from 'tar-stream';
import { openBench, tempFolder } from '../../lab/services/git/test-bench.ts';
import {
  createMirrors,
  type MirrorKey,
  type Mirrors,
  type MirrorsOptions,
} from '../../src/adapters/git/mirrors.ts';
import { Fault } from '../../src/fault.ts';
import { Secret } from '../../src/secret.ts';
import { hangMs } from '../support/until.ts';

export const signal: AbortSignal = AbortSignal.timeout(hangMs);
export const key = (name: string): MirrorKey => name as MirrorKey;

export interface Setup {
  readonly bench: Awaited<ReturnType<typeof openBench>>;
  readonly folder: string;
  readonly mirrors: Mirrors;
  readonly warnings: unknown[];
  source(
    repository: string,
    token?: string,
  ): { url: string; credentials: { username: string; password: Secret } };
}

/** Mirrors of repositories on a host on loopback. */
export async function openMirrors(t: TestContext, options: Partial<MirrorsOptions> = {}): Promise<Setup> {
  const bench = await openBench(t);
  const folder = tempFolder(t);
  const warnings: unknown[] = [];
  return {
    bench,
    folder,
    warnings,
    mirrors: mirrorsIn(folder, {
      log: { warn: (...said: unknown[]) => void warnings.push(said) },
      ...options,
    }),
    source: (repository, token = bench.token) => ({
      url: `${bench.host.url}/${repository}.git`,
      credentials: { username: 'x-access-token', password: new Secret(token) },
    }),
  };
}

export function mirrorsIn(folder: string, options: Partial<MirrorsOptions> = {}): Mirrors {
  return createMirrors({
    folder,
    allowHttp: true,
    resolve: async (host) => [{ address: host === 'localhost' ? '127.0.0.1' : host, family: 4 }],
    fetch,
    log: { warn: () => undefined },
    ...options,
  });
}

export async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Fault, `a Fault, but it was: ${error instanceof Error ? error.stack : error}`);
  return error;
}

/** Where a repository of the host lies. */
export function bareOf({ bench }: Setup, repository: string): string {
  return join(bench.dir, `${repository}.git`);
}

/** Git without any setting of the machine, on a bare repository. Gives what it printed, trimmed. */
export function git(dir: string, args: readonly string[], input: string | Buffer = ''): string {
  return gitBytes(dir, args, input).toString().trim();
}

export function gitBytes(dir: string, args: readonly string[], input: string | Buffer = ''): Buffer {
  const env = {
    PATH: process.env.PATH,
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@lab.test',
    GIT_AUTHOR_DATE: '1700000000 +0000',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@lab.test',
    GIT_COMMITTER_DATE: '1700000000 +0000',
  };
  return execFileSync('git', ['--git-dir', dir, ...args], {
    env,
    input,
    maxBuffer: 2 ** 28,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

export interface OddEntry {
  readonly mode: '100644' | '100755' | '120000' | '040000' | '160000';
  readonly name: string | Buffer;
  /** The content of a file or link, or the id of a tree or commit. */
  readonly content: string | Buffer;
}

/** A tree written byte by byte: git's own commands would refuse some of what is in the tests. */
export function writeTree(dir: string, entries: readonly OddEntry[]): string {
  const records = entries.map(({ mode, name, content }) => {
    const isId = mode === '040000' || mode === '160000';
    const oid = isId ? String(content) : git(dir, ['hash-object', '-w', '--stdin'], content);
    const text = Buffer.concat([
      Buffer.from(`${mode.replace(/^0/, '')} `),
      Buffer.from(name),
      Buffer.from('\0'),
    ]);
    return Buffer.concat([text, Buffer.from(oid, 'hex')]);
  });
  return git(dir, ['hash-object', '-w', '-t', 'tree', '--literally', '--stdin'], Buffer.concat(records));
}

export function commitTree(dir: string, tree: string, branch = 'main', message = 'A commit'): string {
  const sha = git(dir, ['commit-tree', tree, '-m', message]);
  git(dir, ['update-ref', '--', `refs/heads/${branch}`, sha]);
  return sha;
}

export function commitFiles(
  dir: string,
  files: Readonly<Record<string, string | Buffer>>,
  branch = 'main',
  message = 'A commit',
): string {
  return commitTree(
    dir,
    writeTree(
      dir,
      Object.entries(files)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([name, content]) => ({ mode: '100644', name, content })),
    ),
    branch,
    message,
  );
}

export interface Unpacked {
  readonly type: string;
  readonly content: Buffer;
  readonly target: string | undefined;
  readonly mode: number;
}

/** What a tar stream holds, read by a library that did not write it. */
export async function unpack(tar: Readable): Promise<Map<string, Unpacked>> {
  const found = new Map<string, Unpacked>();
  const reader = extract();
  tar.on('error', (error) => reader.destroy(error));
  tar.pipe(reader);
  for await (const entry of reader) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) {
      assert.ok(Buffer.isBuffer(chunk));
      chunks.push(chunk);
    }
    const { name, type, linkname, mode } = entry.header;
    found.set(name, {
      type: type ?? '',
      content: Buffer.concat(chunks),
      target: linkname ?? undefined,
      mode: mode ?? 0,
    });
  }
  return found;
}

/** The names that GNU tar sees, byte for byte. */
export function tarNames(tar: Buffer): Buffer[] {
  const { stdout, stderr, status } = spawnSync(
    'tar',
    ['--list', '--null', '--quoting-style=literal', '-f', '-'],
    { input: tar },
  );
  assert.equal(status, 0, stderr.toString());
  return stdout
    .toString('latin1')
    .split('\n')
    .filter(Boolean)
    .map((name) => Buffer.from(name, 'latin1'));
}

/** Every file below a folder whose bytes contain the text, and every name that does. */
export function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => {
      const path = join(entry.parentPath, entry.name);
      return path.includes(text) || (entry.isFile() && readFileSync(path).includes(text));
    })
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Every living process that shows the text in its arguments or its environment, but this one. */
export function processesShowing(text: string): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && pid !== String(process.pid))
    .filter((pid) => ['cmdline', 'environ'].some((name) => readOr(`/proc/${pid}/${name}`).includes(text)));
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // it has ended meanwhile
  }
}

export const hostileRepo = key('hostile');

/** A repository whose one commit has this tree, fetched. */
export async function withTree(
  setup: Setup,
  make: (bare: string) => string,
): Promise<{ bare: string; sha: string }> {
  await setup.bench.host.createRepository({ owner: 'ada', name: 'app', private: true });
  const bare = bareOf(setup, 'ada/app');
  const sha = commitTree(bare, make(bare));
  await setup.mirrors.fetch(hostileRepo, setup.source('ada/app'), { want: 'default', signal });
  return { bare, sha };
}

export const plainFile = (name: string | Buffer, content = 'x'): OddEntry => ({
  mode: '100644',
  name,
  content,
});
