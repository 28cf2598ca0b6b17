/** Mirrors beside plain git, from the same host on loopback, in turns. */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startGitHost } from '../lab/services/git/git-host.ts';
import { createMirrors, type MirrorKey } from '../src/adapters/git/mirrors.ts';
import { type Figure, median, milliseconds } from './figure.ts';

const rounds = 7;
const fileCount = 200;
const commitCount = 1_000;
const run = promisify(execFile);
const signal = new AbortController().signal;

export async function benchGit(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-bench-git-'));
  const host = await startGitHost({ address: '127.0.0.1', port: 0, dir: join(folder, 'host') });
  try {
    host.createAccount({ login: 'ada', kind: 'user' });
    await host.createRepository({ owner: 'ada', name: 'app' });
    await fill(join(folder, 'host', 'ada', 'app.git'));
    const work = new Work(folder, `${host.url}/ada/app.git`, async (round) => {
      const file = { [`src/f${round}.txt`]: `${round} ${Math.random()}\n` };
      await host.commit('ada', 'app', { branch: 'main', message: `Round ${round}`, files: file });
    });
    return [...(await work.fetching()), ...(await work.reading())];
  } finally {
    await host.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Work {
  readonly #folder: string;
  readonly #url: string;
  readonly #push: (round: number) => Promise<void>;
  readonly #mirrors;
  #names = 0;

  constructor(folder: string, url: string, push: (round: number) => Promise<void>) {
    this.#folder = folder;
    this.#url = url;
    this.#push = push;
    const resolve = async (address: string) => [{ address, family: 4 }];
    const log = { warn: () => undefined };
    this.#mirrors = createMirrors({ folder: join(folder, 'ours'), resolve, fetch, log, allowHttp: true });
  }

  async fetching(): Promise<Figure[]> {
    const first: Pairs = { ours: [], plain: [], other: [] };
    const next: Pairs = { ours: [], plain: [], other: [] };
    for (let round = 0; round < rounds; round += 1) {
      const key = this.#key();
      const mirror = this.#place();
      const shallow = this.#place();
      first.ours.push(await timed(() => this.#fetch(key)));
      first.plain.push(await timed(() => git('clone', '--quiet', '--mirror', this.#url, mirror)));
      first.other.push(
        await timed(() =>
          git('clone', '--quiet', '--bare', '--depth=1', '--branch=main', this.#url, shallow),
        ),
      );
      await this.#push(round);
      next.ours.push(await timed(() => this.#fetch(key)));
      next.plain.push(await timed(() => git('-C', mirror, 'fetch', '--quiet')));
      next.other.push(
        await timed(() => git('-C', shallow, 'fetch', '--quiet', '--depth=1', 'origin', 'main')),
      );
    }
    return [
      ...figures(`first fetch (${commitCount} commits, ${fileCount} files)`, first, [
        'git clone --mirror',
        'git clone --depth=1',
      ]),
      ...figures('one more commit', next, ['git fetch', 'git fetch --depth=1']),
    ];
  }

  async reading(): Promise<Figure[]> {
    const key = this.#key();
    const { commit } = await this.#fetch(key);
    const plain = this.#place();
    await git('clone', '--quiet', '--mirror', this.#url, plain);
    const times: Pairs = { ours: [], plain: [], other: [] };
    for (let round = 0; round < rounds; round += 1) {
      times.ours.push(
        await timed(async () => {
          const mirror = this.#mirrors.open(key);
          const { entries } = await mirror.tree(commit.sha);
          const read = await Array.fromAsync(
            mirror.readFiles(
              commit.sha,
              entries.map(({ path }) => path),
            ),
          );
          if (read.length < fileCount) throw new Error(`only ${read.length} files were read`);
        }),
      );
      const target = this.#place();
      mkdirSync(target);
      times.plain.push(await timed(() => unpack(plain, commit.sha, target)));
    }
    return figures(`reading ${fileCount} files at a commit`, times, ['git archive | tar x']);
  }

  #fetch(key: MirrorKey) {
    return this.#mirrors.fetch(key, { url: this.#url }, { want: { branch: 'main' }, signal });
  }

  #key(): MirrorKey {
    this.#names += 1;
    return `bench${this.#names}` as MirrorKey;
  }

  #place(): string {
    this.#names += 1;
    return join(this.#folder, `plain${this.#names}`);
  }
}

interface Pairs {
  readonly ours: number[];
  readonly plain: number[];
  readonly other: number[];
}

function figures(what: string, { ours, plain, other }: Pairs, names: readonly string[]): Figure[] {
  return [plain, other].flatMap((times, index) => {
    const name = names[index];
    if (name === undefined) return [];
    const beside = { name, amount: milliseconds(median(times)) };
    return [{ what, slipway: milliseconds(median(ours)), beside }];
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function git(...args: string[]): Promise<void> {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
  await run('git', args, { env });
}

function unpack(dir: string, sha: string, target: string): Promise<void> {
  const archive = spawn('git', ['-C', dir, 'archive', sha], { stdio: ['ignore', 'pipe', 'inherit'] });
  const tar = spawn('tar', ['-x', '-C', target], { stdio: ['pipe', 'ignore', 'inherit'] });
  archive.stdout.pipe(tar.stdin);
  return new Promise((resolve, reject) => {
    tar.once('error', reject);
    tar.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`tar ended with ${code}`))));
  });
}

/** A history in which each commit changes two files. */
async function fill(dir: string): Promise<void> {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent' };
  const importing = spawn('git', ['-C', dir, 'fast-import', '--quiet'], {
    env,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = new Promise<void>((resolve, reject) => {
    importing.once('close', (code) => (code === 0 ? resolve() : reject(new Error('git fast-import failed'))));
  });
  const text = (file: number, version: number) =>
    Array.from(
      { length: 60 },
      (_, line) => `line ${line} of ${file}, ${line % 20 === version % 20 ? version : 0}\n`,
    ).join('');
  const data = (content: string) => `data ${Buffer.byteLength(content)}\n${content}\n`;
  for (let commit = 0; commit < commitCount; commit += 1) {
    const changed =
      commit === 0
        ? Array.from({ length: fileCount }, (_, at) => at)
        : [commit % fileCount, (commit * 7) % fileCount];
    const files = changed.map(
      (at) => `M 100644 inline src/d${at % 10}/f${at}.txt\n${data(text(at, commit))}`,
    );
    const head = `commit refs/heads/main\ncommitter Ada <ada@lab.test> ${1_700_000_000 + commit} +0000\n`;
    importing.stdin.write(`${head}${data(`Commit ${commit}`)}${files.join('')}`);
  }
  importing.stdin.end();
  await ended;
  await git('-C', dir, 'gc', '--quiet');
}
