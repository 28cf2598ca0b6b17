/**
 * The service in a few files, in place of the two thousand that a start would have to find, read and compile. Made at the
 * first start, and kept under a name that is a hash of all that goes into it; `npm run dev` runs the source itself.
 *
 * Plain JavaScript for the same reason as `run.mjs`.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Native ones, and those that read files beside their own. */
const external = [
  'oxc-parser',
  'ssh2',
  'esbuild',
  'cpu-features',
  'pg-native',
  '@scalar/fastify-api-reference',
  '*.node',
];

/**
 * CommonJS that the first answer needs nothing of: each is run when something of it is first used. Of `node:http`, an
 * `import` asks for every export, also for those that load the whole of fetch: more than a tenth of a start.
 */
const onFirstUse = ['node:http', 'ssh2', 'cron-parser'];

const keptBundles = 4;
const abandonedMs = 3_600_000;
const traces = fileURLToPath(new URL('./source-lines.mjs', import.meta.url));

/** CommonJS packages ask for `require`. */
const banner = `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`;

/** The files to run in place of the entry; made where there are none yet for what the source is now. */
export async function bundle(root, entry, cacheFolder, key) {
  const source = dirname(entry);
  const made = join(cacheFolder, `bundle-${hashOf(source, key)}`);
  const files = {
    main: join(made, 'main.js'),
    app: join(made, 'app.js'),
    traces: join(made, 'source-lines.js'),
  };
  if (existsSync(made)) return files;
  mkdirSync(cacheFolder, { recursive: true });
  const half = join(cacheFolder, `half-${process.pid}`);
  rmSync(half, { recursive: true, force: true });
  const { build } = await import('esbuild');
  await build({
    entryPoints: { main: entry, app: join(source, 'app.ts'), 'source-lines': traces },
    absWorkingDir: root,
    outdir: half,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // Names of classes and functions stay as they are, since people read them in logs and traces: no identifier is made shorter.
    // `keepNames` would do more, for the few that meet another of their name, and costs each small function in a loop a call.
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    external,
    banner: { js: banner },
    plugins: [atItsPlace(source), ranLater(root), loadedLater],
    logLevel: 'error',
  });
  // Node would look into each file first to see what kind it is.
  writeFileSync(join(half, 'package.json'), '{ "type": "module" }');
  try {
    renameSync(half, made);
  } catch (error) {
    // Another start has made the same one meanwhile.
    if (!existsSync(made)) throw error;
    rmSync(half, { recursive: true, force: true });
  }
  dropOld(cacheFolder);
  return files;
}

/** Not the last few: a service that runs on one of them loads more of it when it needs it. */
function dropOld(cacheFolder) {
  const found = (prefix) =>
    readdirSync(cacheFolder)
      .filter((name) => name.startsWith(prefix))
      .map((name) => join(cacheFolder, name))
      .map((path) => ({ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
      .sort((a, b) => b.at - a.at);
  // Of a start that was killed; the others are done within seconds.
  const abandoned = found('half-').filter(({ at }) => at < Date.now() - abandonedMs);
  for (const { path } of [...found('bundle-').slice(keptBundles), ...abandoned])
    rmSync(path, { recursive: true, force: true });
}

/** A file of ours that reads what lies beside it goes on reading it there. */
function atItsPlace(source) {
  return {
    name: 'at-its-place',
    setup({ onLoad }) {
      const ours = new RegExp(`^${source.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}/.*\\.ts$`);
      onLoad({ filter: ours }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        const url = JSON.stringify(pathToFileURL(path).href);
        return { loader: 'ts', contents: text.replaceAll('import.meta.url', url) };
      });
    },
  };
}

function ranLater(root) {
  const load = createRequire(join(root, 'package.json'));
  return {
    name: 'ran-later',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: new RegExp(`^(${onFirstUse.join('|')})$`) }, ({ path, kind }) =>
        kind === 'import-statement' ? { path, namespace: 'ran-later' } : undefined,
      );
      onLoad({ filter: /./, namespace: 'ran-later' }, ({ path }) => {
        const [named, from] = [JSON.stringify(Object.keys(load(path))), JSON.stringify(path)];
        const contents = `for (const name of ${named}) Object.defineProperty(exports, name, { enumerable: true, get: () => require(${from})[name] });`;
        return { loader: 'js', contents, resolveDir: root };
      });
    },
  };
}

/**
 * A package that is loaded with its first use is not part of a start; and of CommonJS a chunk would keep no names. The
 * queue is a chunk: by itself it would load the driver of the database once more.
 */
const loadedLater = {
  name: 'loaded-later',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'dynamic-import' && path !== 'pg-boss' ? { external: true } : undefined,
    );
  },
};

function hashOf(folder, key) {
  const hash = createHash('sha256').update(key).update(folder);
  for (const own of [fileURLToPath(import.meta.url), traces]) hash.update(readFileSync(own));
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of files) hash.update(relative(folder, file)).update('\0').update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}
