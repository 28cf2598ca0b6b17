/** What the tests of the host share: a host of their own, the real git client, and somebody who gets webhooks. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { type GitHost, startGitHost } from './git-host.ts';

const run = promisify(execFile);
const deadlineMs = 20_000;

const cleanUps = new WeakMap<TestContext, (() => unknown)[]>();

/** Runs when the test has ended, the last one first: a folder goes after the host that writes to it. */
export function afterwards(t: TestContext, work: () => unknown): void {
  const known = cleanUps.get(t);
  if (known) {
    known.unshift(work);
    return;
  }
  const works = [work];
  cleanUps.set(t, works);
  t.after(async () => {
    const failures: unknown[] = [];
    for (const each of works)
      await Promise.resolve()
        .then(each)
        .catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  });
}

/** Where a test may keep things; gone when it has ended. */
export function tempFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'git-host-'));
  afterwards(t, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

export interface ApiOptions {
  readonly method?: string;
  readonly body?: unknown;
  /** `null` sends none. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: unknown;
}

export interface Bench {
  readonly host: GitHost;
  readonly dir: string;
  readonly token: string;
  /** The address of a repository, with a token in it. */
  cloneUrl(repository: string, token?: string): string;
  /** A path of the API, or a whole address. */
  api(path: string, options?: ApiOptions): Promise<Reply>;
}

/** A host with the user `ada`, who has a token that may do everything. */
export async function openBench(t: TestContext, dir = tempFolder(t)): Promise<Bench> {
  const failures: Error[] = [];
  const onError = (error: Error) => void failures.push(error);
  const host = await startGitHost({ address: '127.0.0.1', port: 0, dir, onError });
  afterwards(t, async () => {
    await host.close();
    assert.deepEqual(failures, [], 'nothing went wrong inside');
  });
  host.createAccount({ login: 'ada', name: 'Ada', kind: 'user' });
  const { token } = host.createToken({
    login: 'ada',
    scopes: ['repo', 'user', 'read:org', 'admin:repo_hook'],
  });
  return {
    host,
    dir,
    token,
    cloneUrl: (repository, secret = token) =>
      `${host.url.replace('://', `://x-access-token:${secret}@`)}/${repository}.git`,
    api: (path, options = {}) => request(host, path, { token, ...options }),
  };
}

async function request(host: GitHost, path: string, options: ApiOptions): Promise<Reply> {
  const { method = 'GET', body, token, headers = {} } = options;
  const response = await fetch(path.startsWith('http') ? path : `${host.apiUrl}${path}`, {
    method,
    redirect: 'manual',
    headers: { ...(token ? { authorization: `token ${token}` } : {}), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
  const json: unknown = isJson ? JSON.parse(text) : undefined;
  return { status: response.status, headers: response.headers, text, json };
}

/** Debian's git client with a home of its own: neither the machine's settings nor the user's play a part. */
export function gitClient(t: TestContext) {
  const home = tempFolder(t);
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@lab.test',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@lab.test',
  };
  const git = async (folder: string, ...args: string[]) => {
    const { stdout } = await run('git', ['-C', folder, ...args], { env, maxBuffer: 64 * 1024 * 1024 });
    return stdout.trim();
  };
  return Object.assign(git, {
    /** A clone in a new folder. */
    clone: async (url: string, ...args: string[]): Promise<string> => {
      const folder = join(tempFolder(t), 'clone');
      await git(home, 'clone', '--quiet', ...args, url, folder);
      return folder;
    },
    /** Writes the files and commits them; gives the commit's id. */
    commit: async (folder: string, message: string, files: Readonly<Record<string, string>>) => {
      writeFiles(folder, files);
      await git(folder, 'add', '--all');
      await git(folder, 'commit', '--quiet', '--allow-empty', '-m', message);
      return git(folder, 'rev-parse', 'HEAD');
    },
  });
}

export interface Received {
  readonly event: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Buffer;
  readonly payload: unknown;
}

/** A server that gets webhooks, and answers with whatever `answer` says. */
export async function openReceiver(
  t: TestContext,
  answer: { status: number; location?: string } = { status: 200 },
) {
  const received: Received[] = [];
  let wake = () => {};
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const isForm = incoming.headers['content-type'] === 'application/x-www-form-urlencoded';
    const text = isForm ? (new URLSearchParams(raw.toString()).get('payload') ?? '') : raw.toString();
    const payload: unknown = JSON.parse(text);
    received.push({
      event: String(incoming.headers['x-github-event']),
      headers: incoming.headers,
      raw,
      payload,
    });
    response.writeHead(answer.status, answer.location ? { Location: answer.location } : {}).end('thanks');
    wake();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterwards(t, () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return {
    url: `http://127.0.0.1:${address.port}/hook`,
    received,
    /** Waits until so many of the event have come, and gives them. */
    async take(event: string, count: number): Promise<Received[]> {
      const signal = AbortSignal.timeout(deadlineMs);
      for (;;) {
        const found = received.filter((each) => each.event === event);
        if (found.length >= count) return found;
        await new Promise<void>((resolve, reject) => {
          wake = resolve;
          signal.onabort = () => reject(new Error(`only ${found.length} of ${count} ${event} came`));
        });
      }
    },
  };
}

/** What lies at a path inside a JSON value. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>((inside, key) => {
    assert.ok(typeof inside === 'object' && inside !== null, `there is nothing at ${path.join('.')}`);
    return Object.entries(inside).find(([name]) => name === String(key))?.[1];
  }, value);
}

export function listAt(value: unknown, ...path: (string | number)[]): unknown[] {
  const found = at(value, ...path);
  assert.ok(Array.isArray(found), `there is no list at ${path.join('.')}`);
  return found;
}
