/**
 * The analysis over all fixtures, beside two others on the same folders in the same run and in turns, and over a
 * generated repository of 50,000 files in a process of its own, so that the peak of its memory is its own.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { Project } from '@netlify/build-info';
import { NodeFS, NoopLogger } from '@netlify/build-info/node';
import { frameworkList } from '@vercel/frameworks';
import {
  detectFramework,
  getWorkspacePackagePaths,
  getWorkspaces,
  LocalFileSystemDetector,
  packageManagers,
} from '@vercel/fs-detectors';
import { analyse } from '../src/analysis/analysis.ts';
import { Analyst } from '../src/analysis/process/analyst.ts';
import type { FileTree, TreeEntry } from '../src/analysis/tree.ts';
import { readFixtures } from '../test/analysis/fixtures.ts';
import {
  type Aim,
  type Amount,
  type Figure,
  median,
  megabytes,
  milliseconds,
  quantile,
  secondsOf,
} from './figure.ts';
import { root } from './service.ts';

const rounds = 3;
const peers = { netlify: '@netlify/build-info', vercel: '@vercel/fs-detectors' };

type Looking = (folder: string) => Promise<unknown>;

export async function benchAnalysis(): Promise<Figure[]> {
  const base = mkdtempSync(join(tmpdir(), 'slipway-bench-analysis-'));
  try {
    const folders = writeFixtures(base);
    const lookers: Readonly<Record<string, Looking>> = { ours, netlify, vercel };
    const times = new Map(Object.keys(lookers).map((name) => [name, folders.map((): number[] => [])]));
    const silent = new Set<string>();
    // The first round warms each of them up and is not counted.
    for (let round = 0; round <= rounds; round += 1) {
      for (const [at, folder] of folders.entries()) {
        for (const [name, look] of Object.entries(lookers)) {
          const started = performance.now();
          const hasAnswer = await look(folder).then(
            () => true,
            () => false,
          );
          if (!hasAnswer) silent.add(`${name} ${folder}`);
          if (round > 0 && hasAnswer) times.get(name)?.[at]?.push(performance.now() - started);
        }
      }
    }
    const each = (name: string) => (times.get(name) ?? []).filter((all) => all.length > 0).map(median);
    const without = (name: string) => [...silent].filter((one) => one.startsWith(`${name} `)).length;
    const row = (what: string, amount: (all: readonly number[]) => Amount, aim: Aim) =>
      Object.entries(peers).map(([name, title]): Figure => {
        const left = without(name) > 0 ? ` (${without(name)} without an answer)` : '';
        const beside = { name: `${title}${left}`, amount: amount(each(name)) };
        return { what, slipway: amount(each('ours')), beside, aim };
      });
    return [
      ...row(`one repository, median of ${folders.length}`, (all) => milliseconds(median(all)), {
        atMost: 2,
        ratioAtMost: 1,
      }),
      ...row('one repository, p95', (all) => milliseconds(quantile(all, 0.95)), {
        atMost: 10,
        ratioAtMost: 1,
      }),
      await inItsProcess(folders),
      ...(await large()),
    ];
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** What the process of its own adds, once it runs: each folder by it and without it, in turns. */
async function inItsProcess(folders: readonly string[]): Promise<Figure> {
  const analyst = new Analyst();
  const signal = new AbortController().signal;
  const added: number[] = [];
  const taking = async (work: Promise<unknown>) => {
    const started = performance.now();
    // What is refused, is refused by both.
    await work.catch(() => undefined);
    return performance.now() - started;
  };
  try {
    for (let round = 0; round <= rounds; round += 1)
      for (const folder of folders) {
        const within = await taking(ours(folder));
        const beside = await taking(analyst.analyse('bench', folderTree(folder), '', signal));
        if (round > 0) added.push(beside - within);
      }
  } finally {
    await analyst.close();
  }
  const what = 'one repository, what its own process adds, median';
  return { what, slipway: milliseconds(median(added)), aim: { atMost: 15 } };
}

async function large(): Promise<Figure[]> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--max-semi-space-size=8', 'bench/analysis-large.ts'],
    { cwd: root },
  );
  const { tookMs, peakMb, restMb } = Object(JSON.parse(stdout));
  const what = 'a repository of 50,000 files';
  return [
    { what, slipway: secondsOf(Number(tookMs)), aim: { atMost: 0.7 } },
    { what: `${what}, peak of memory`, slipway: megabytes(Number(peakMb)), aim: { atMost: 160 } },
    { what: `${what}, memory before`, slipway: megabytes(Number(restMb)) },
  ];
}

function writeFixtures(base: string): string[] {
  return readFixtures().map(({ name, files }) => {
    for (const [path, text] of Object.entries(files)) {
      const file = join(base, name, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    return join(base, name);
  });
}

async function ours(folder: string): Promise<unknown> {
  return analyse(folderTree(folder), { signal: AbortSignal.timeout(60_000) });
}

async function netlify(folder: string): Promise<unknown> {
  const fs = new NodeFS();
  fs.cwd = folder;
  fs.logger = new NoopLogger();
  const project = new Project(fs, folder, folder);
  project.logger = fs.logger;
  return project.getBuildSettings();
}

/** What it can tell: the framework, the package manager, and the framework of each member of a workspace. */
async function vercel(folder: string): Promise<unknown> {
  const fs = new LocalFileSystemDetector(folder);
  const found: unknown[] = [
    await detectFramework({ fs, frameworkList }),
    await detectFramework({ fs, frameworkList: packageManagers }),
  ];
  for (const workspace of await getWorkspaces({ fs })) {
    for (const path of await getWorkspacePackagePaths({ fs, workspace }))
      found.push(await detectFramework({ fs: fs.chdir(path), frameworkList }));
  }
  return found;
}

/** A folder on disk, read as the others read it. */
function folderTree(folder: string): FileTree {
  return {
    async list(most) {
      const found = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = found.filter((each) => each.isFile()).slice(0, most);
      const entries = files.map(async (each): Promise<TreeEntry> => {
        const path = join(each.parentPath, each.name);
        return { path: relative(folder, path), type: 'file', size: (await stat(path)).size };
      });
      return { entries: await Promise.all(entries), isComplete: true };
    },
    async read(paths) {
      const contents = paths.map(async (path) => [path, await readFile(join(folder, path))] as const);
      return new Map(await Promise.all(contents));
    },
  };
}
