/**
 * Runs a TypeScript entry with the Node that this project pins, installing first when the lock file asks for it.
 *
 * Plain JavaScript for a reason: on a fresh clone this is started by whatever Node the machine has, before
 * anything of ours is installed. Usage: node scripts/run.mjs [--dev] [node options] <entry.ts> [arguments]
 *
 * --service runs the entry as what it is made for, to run for months: bundled, and with the settings that keep it small.
 * It leaves `last-start.sh`, by which `start.sh` does the same again without us.
 * --prepare makes all that such a start would make, for where it could not: an image, a folder that only root may write.
 * Without an entry it installs, and that is all.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const stampFile = join(modules, '.slipway-installed');
const pinnedNode = join(modules, '.bin', 'node');
const cache = join(modules, '.cache', 'slipway');

/** The young generation stays small: no slower here, and 10 KB less for each open stream. At rest `src/main.ts` collects. */
const serviceOptions = ['--max-semi-space-size=8', '--expose-gc'];
const startedMs = Date.now();

const args = process.argv.slice(2);
const mode = ['--dev', '--service', '--prepare'].includes(args[0]) ? args.shift() : undefined;
const wantsDev = mode === '--dev';
const found = args.findIndex((arg) => !arg.startsWith('-'));
const entryAt = found === -1 ? args.length : found;
const nodeOptions = args.slice(0, entryAt);
const entry = resolve(root, args[entryAt] ?? '');
const entryArgs = args.slice(entryAt + 1);

const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8');
const lockHash = createHash('sha256').update(lockText).digest('hex');
/** Where a person looks on, one line is written over and over, and gone in the end. */
const isWatched = process.stderr.isTTY === true;

if (!isInstalled()) await install();
if (mode === '--service' && isWatched) overwrite('Starting …');
if (mode === '--service')
  runThere([...serviceOptions, ...(await serviceEntry())], { ...serviceEnv(), ...process.env });
else if (mode === '--prepare') await prepare();
else if (process.version === pinnedVersion() && nodeOptions.length === 0) await runHere();
else runThere([...nodeOptions, entry], process.env);

function isInstalled() {
  const [hash, kind] = readOr(stampFile, '').split(' ');
  return hash === lockHash && (kind === 'dev' || !wantsDev);
}

async function install() {
  const started = Date.now();
  const seconds = () => `${((Date.now() - started) / 1000).toFixed(0)} s`;
  const what = `Installing dependencies (${wantsDev ? 'all' : 'run time only'})`;
  const paths = packagePaths();
  const show = () => overwrite(`${what}: ${paths.filter(isThere).length} of ${paths.length}, ${seconds()}`);
  if (!isWatched) process.stderr.write(`${what} …\n`);
  if (isWatched) show();
  const timer = isWatched ? setInterval(show, 250) : undefined;
  rmSync(stampFile, { force: true });
  const flags = ['ci', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
  if (!wantsDev) flags.push('--omit=dev');
  const npm = spawn('npm', flags, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'], env: cleanEnv() });
  let said = '';
  npm.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const failure = await new Promise((resolve) => {
    npm.once('error', (error) => resolve(error.message));
    npm.once('close', (code) => resolve(code === 0 ? undefined : said));
  });
  clearInterval(timer);
  if (isWatched) overwrite('');
  if (failure !== undefined) {
    process.stderr.write(`${failure.trimEnd()}\n`);
    process.stderr.write('Slipway could not install its dependencies: `npm ci` failed, see above.\n');
    process.exit(1);
  }
  writeFileSync(stampFile, `${lockHash} ${wantsDev ? 'dev' : 'run'}`);
  if (!isWatched) process.stderr.write(`Installed in ${seconds()}.\n`);
}

/** Those that the lock file asks for here. */
function packagePaths() {
  const fits = (list, value) =>
    !list || (list.some((each) => each.startsWith('!')) ? !list.includes(`!${value}`) : list.includes(value));
  return Object.entries(JSON.parse(lockText).packages)
    .filter(
      ([path, { dev, os, cpu }]) =>
        path && (wantsDev || !dev) && fits(os, process.platform) && fits(cpu, process.arch),
    )
    .map(([path]) => join(root, path));
}

function isThere(folder) {
  return existsSync(join(folder, 'package.json'));
}

function overwrite(text) {
  process.stderr.write(`\r\x1b[K${text}`);
}

// The npm that started us hands its settings down as variables, and puts our own Node first in the path:
// the inner one must inherit neither, since it is about to replace that Node.
function cleanEnv() {
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('npm_')));
  env.PATH = (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.startsWith(modules))
    .join(delimiter);
  return env;
}

function pinnedVersion() {
  return `v${JSON.parse(readFileSync(join(modules, 'node', 'package.json'), 'utf8')).version}`;
}

async function runHere() {
  module.enableCompileCache(cache);
  process.argv = [process.argv[0], entry, ...entryArgs];
  await import(entry);
}

/** In place of this process where Node can do that: it would only wait. */
function runThere(entryAndOptions, env) {
  const wanted = [...process.execArgv, ...entryAndOptions, ...entryArgs];
  if (process.execve) process.execve(pinnedNode, [pinnedNode, ...wanted], env);
  const child = spawn(pinnedNode, wanted, { stdio: 'inherit', env });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // A terminal sends Ctrl-C to the whole group: the child has it already, we only outlive it.
  process.on('SIGINT', () => {});
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
}

async function serviceEntry() {
  const { bundle } = await import('./bundle.mjs');
  try {
    const { main, traces } = await bundle(root, entry, cache, lockHash);
    const found = [`--import=${traces}`, main];
    leaveLastStart(main, [...serviceOptions, ...found]);
    return found;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    process.stderr.write(
      `Slipway starts slower than it could: ${cache} cannot be written (${error.code}).\n`,
    );
    return [entry];
  }
}

/** A second older than our look at the files: what has changed since is looked at again. */
function leaveLastStart(main, found) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const env = Object.entries(serviceEnv()).map(
    ([name, value]) => `[ "\${${name}+set}" ] || export ${name}=${quoted(value)}`,
  );
  const lines = [
    `[ -f ${quoted(main)} ] || return 0`,
    ...env,
    `[ ! -t 2 ] || printf '\\r\\033[KStarting …' >&2`,
    `exec ${[pinnedNode, ...found].map(quoted).join(' ')}`,
  ];
  const file = join(cache, 'last-start.sh');
  const half = `${file}-${process.pid}`;
  try {
    writeFileSync(half, `${lines.join('\n')}\n`);
    utimesSync(half, startedMs / 1000 - 1, startedMs / 1000 - 1);
    renameSync(half, file);
  } catch (error) {
    // Who may not write there is started by us each time.
    if (!isRefusal(error)) throw error;
  }
}

function isRefusal({ code }) {
  return ['EACCES', 'EROFS', 'EPERM'].includes(code);
}

function serviceEnv() {
  const settings = readFileSync(join(root, 'scripts/memory.env'), 'utf8').matchAll(/^(\w+)=(.*)$/gm);
  return {
    ...Object.fromEntries(Array.from(settings, ([, name, value]) => [name, value])),
    NODE_COMPILE_CACHE: cache,
  };
}

/** What is compiled is kept too, for all that a start loads, and the dashboard; loading it starts nothing. */
async function prepare() {
  if (entryAt === args.length) return;
  const { bundle } = await import('./bundle.mjs');
  const { app } = await bundle(root, entry, cache, lockHash);
  const load = `import(${JSON.stringify(app)}).then(({ bundleDashboard }) => bundleDashboard())`;
  const { status } = spawnSync(pinnedNode, [...serviceOptions, '--eval', load], {
    stdio: 'inherit',
    env: { ...process.env, ...serviceEnv() },
  });
  process.exit(status ?? 1);
}

function readOr(path, fallback) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return fallback;
    throw error;
  }
}
