/**
 * The dashboard as browsers get it, made of `web/` by esbuild. Made when it is first asked for, kept beside the bundle of
 * the service under a name that is a hash of all that goes into it, and prepared with that where the service is packaged.
 */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { Metafile } from 'esbuild';
import { once } from '../../once.ts';
import { type Asset, etagOf } from '../assets.ts';
import { pageOf } from './page.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const cacheFolder = join(root, 'node_modules/.cache/slipway');
const entries = { main: 'web/main.tsx', style: 'web/styles/main.css' };
const sources = ['web', 'sdk'];
const keptBundles = 4;
export const assetsPath = '/assets/';
const pageName = 'index.html';

/** By name below `assetsPath`, and the page itself. */
export interface DashboardFiles {
  readonly page: Asset;
  readonly assets: ReadonlyMap<string, Asset>;
}

/** Name to bytes: of each file one plain, one `.br`, one `.gz`. */
type Made = ReadonlyMap<string, Buffer>;

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  map: 'application/json; charset=utf-8',
};

export const bundleDashboard = once(async (): Promise<DashboardFiles> => {
  const folder = join(cacheFolder, `web-${await hashOfSources()}`);
  return filesOf((await readMade(folder)) ?? (await keep(folder, await build())));
});

function filesOf(made: Made): DashboardFiles {
  const assets = new Map<string, Asset>();
  for (const [name, plain] of made)
    if (!/\.(br|gz)$/.test(name)) {
      const [br, gz] = [made.get(`${name}.br`), made.get(`${name}.gz`)];
      assets.set(name, {
        type: types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
        plain,
        encoded: [
          ...(br ? [{ encoding: 'br', bytes: br } as const] : []),
          ...(gz ? [{ encoding: 'gzip', bytes: gz } as const] : []),
        ],
        etag: etagOf(plain),
        isImmutable: name !== pageName,
      });
    }
  const page = assets.get(pageName);
  if (!page) throw new Error(`the dashboard was made without ${pageName}`);
  assets.delete(pageName);
  return { page, assets };
}

async function build(): Promise<Made> {
  const esbuild = await import('esbuild');
  const { outputFiles, metafile } = await esbuild.build({
    entryPoints: entries,
    absWorkingDir: root,
    outdir: '/',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2024',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  // Its process would stay for as long as ours does, for one use.
  await esbuild.stop();
  const plain = new Map(outputFiles.map(({ path, contents }) => [path.slice(1), Buffer.from(contents)]));
  plain.set(pageName, Buffer.from(pageOf(loadedFirst(metafile), assetsPath)));
  const made = new Map(plain);
  for (const [name, bytes] of plain) {
    made.set(`${name}.br`, await promisify(brotliCompress)(bytes));
    made.set(`${name}.gz`, await promisify(gzip)(bytes));
  }
  return made;
}

/** What the first view needs: the style, the script, and what that imports by itself. */
function loadedFirst({ outputs }: Metafile): { style: string; script: string; imports: readonly string[] } {
  const named = Object.entries(outputs).map(([path, output]) => ({
    name: path.split('/').at(-1) ?? '',
    output,
  }));
  const of = (entry: string) => {
    const found = named.find(({ output }) => output.entryPoint === entry);
    if (!found) throw new Error(`esbuild made nothing of ${entry}`);
    return found;
  };
  const imports = new Set<string>();
  const waiting = [of(entries.main).output];
  for (let next = waiting.shift(); next; next = waiting.shift())
    for (const { path, kind } of next.imports) {
      const name = path.split('/').at(-1) ?? '';
      if (kind !== 'import-statement' || imports.has(name)) continue;
      imports.add(name);
      waiting.push(...named.filter((each) => each.name === name).map(({ output }) => output));
    }
  return { style: of(entries.style).name, script: of(entries.main).name, imports: [...imports] };
}

/** In one move, so that nobody finds half of it. Where nothing can be written, it is made again at each start. */
async function keep(folder: string, made: Made): Promise<Made> {
  try {
    await mkdir(cacheFolder, { recursive: true });
    const half = await mkdtemp(join(cacheFolder, 'half-'));
    for (const [name, bytes] of made) await writeFile(join(half, name), bytes);
    await rename(half, folder).catch(async (error: unknown) => {
      await rm(half, { recursive: true, force: true });
      // Another start has made the same one meanwhile.
      if (!['ENOTEMPTY', 'EEXIST'].includes(Object(error).code)) throw error;
    });
    await dropOld();
  } catch (error) {
    if (!['EACCES', 'EROFS', 'EPERM'].includes(Object(error).code)) throw error;
  }
  return made;
}

async function readMade(folder: string): Promise<Made | undefined> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (Object(error).code === 'ENOENT') return undefined;
    throw error;
  });
  if (!names) return undefined;
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)),
  );
}

async function dropOld(): Promise<void> {
  const names = (await readdir(cacheFolder)).filter((name) => name.startsWith('web-'));
  const aged = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(cacheFolder, name))).mtimeMs })),
  );
  for (const { name } of aged.sort((a, b) => b.at - a.at).slice(keptBundles))
    await rm(join(cacheFolder, name), { recursive: true, force: true });
}

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256');
  const listed = sources.map((folder) =>
    readdir(join(root, folder), { recursive: true, withFileTypes: true }),
  );
  const files = (await Promise.all(listed))
    .flat()
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
  const own = ['bundle.ts', 'page.ts'].map((name) => `src/http/dashboard/${name}`);
  for (const file of ['package-lock.json', ...own, ...files])
    hash
      .update(file)
      .update('\0')
      .update(await readFile(join(root, file)));
  return hash.digest('hex').slice(0, 16);
}
