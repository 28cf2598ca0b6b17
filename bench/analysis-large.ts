/** Run by `analysis.ts` in a process of its own: a workspace of 50,000 files, made as they are read. */
import { analyse } from '../src/analysis/analysis.ts';
import { type FileTree, MemoryTree, type TreeEntry } from '../src/analysis/tree.ts';

const members = 50;
const filesEach = 1_000;

const plain = Array.from(
  { length: 40 },
  (_, at) => `export const value${at} = (input: string) => input.trim() + '${at}';\n`,
).join('');
/** One file in twelve reads the environment, as in most repositories. */
const reading = `${plain}export const url = process.env.SERVICE_URL ?? 'http://localhost:3000';\n`;
const component = `${'import React from "react";\nexport const Part = () => <p>text</p>;\n'.repeat(30)}`;
const lockFile = `lockfileVersion: '9.0'\n${"  '@scope/name@1.0.0':\n    resolution: {integrity: sha512-x}\n".repeat(20_000)}`;

function textOf(path: string): string {
  if (path === 'package.json') return JSON.stringify({ private: true, packageManager: 'pnpm@9.0.0' });
  if (path === 'pnpm-workspace.yaml') return 'packages:\n  - "packages/*"\n';
  if (path === 'pnpm-lock.yaml') return lockFile;
  const name = path.split('/')[1] ?? '';
  if (path.endsWith('package.json'))
    return JSON.stringify({
      name,
      scripts: { build: 'tsc', start: 'node dist/index.js' },
      dependencies: { fastify: '5', pg: '8' },
    });
  if (path.endsWith('.tsx')) return component;
  return Number(/\d+(?=\.ts$)/.exec(path)?.[0]) % 12 === 1 ? reading : plain;
}

const paths = ['package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml'];
for (let member = 0; member < members; member += 1) {
  paths.push(`packages/p${member}/package.json`);
  for (let at = 1; at < filesEach; at += 1)
    paths.push(
      `packages/p${member}/src/part${at % 40}/file${at}.${at % 3 === 0 ? 'tsx' : at % 7 === 0 ? 'json' : 'ts'}`,
    );
}
const sizes = new Map([plain, reading, component, lockFile].map((text) => [text, text.length]));
const entries = paths.map((path): TreeEntry => {
  const text = textOf(path);
  return { path, type: 'file', size: sizes.get(text) ?? text.length };
});
const tree: FileTree = {
  async list(most) {
    return { entries: entries.slice(0, most), isComplete: entries.length <= most };
  },
  async read(wanted) {
    return new Map(wanted.map((path) => [path, Buffer.from(textOf(path))]));
  },
};

// The modules and the thread are there in a service that has looked at anything before.
const small = new MemoryTree({ 'index.js': 'process.env.A' });
await analyse(small, { signal: AbortSignal.timeout(60_000) });
const restMb = process.memoryUsage.rss() / 2 ** 20;

const started = performance.now();
const result = await analyse(tree, { signal: AbortSignal.timeout(60_000) });
const tookMs = performance.now() - started;
const peakMb = process.resourceUsage().maxRSS / 1024;
if (result.apps.length !== members) throw new Error(`${result.apps.length} apps instead of ${members}`);
process.stdout.write(JSON.stringify({ tookMs, peakMb, restMb }));
