/** The process that looks at foreign files: that it is ended, how it is confined, and what is said of it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { root } from '../../scripts/commands.ts';
import { Child, ChildEnded } from '../../src/adapters/sandbox/child.ts';
import { ChildPool } from '../../src/adapters/sandbox/child-pool.ts';
import type { ProcessLimits } from '../../src/analysis/limits.ts';
import { Analyst } from '../../src/analysis/process/analyst.ts';
import { MemoryTree } from '../../src/analysis/tree.ts';
import { Fault } from '../../src/fault.ts';
import { temporaryFolder } from '../support/postgres.ts';
import { hangMs, until } from '../support/until.ts';

const signal = () => AbortSignal.timeout(hangMs);
const manifest = JSON.stringify({ scripts: { start: 'node a.js' }, dependencies: { express: '4' } });
const harmless = { 'package.json': manifest, 'a.js': 'app.listen(process.env.PORT)' };
/** The parser goes back at each bracket, in native code that no thread can be talked out of. */
const endless = { 'package.json': manifest, 'src/bomb.js': `process.env.A;${'(a='.repeat(9_000)}` };

function analystFor(t: TestContext, limits: Partial<ProcessLimits> = {}) {
  const analyst = new Analyst(limits);
  t.after(() => analyst.close());
  return (files: Record<string, string>, abort = signal()) =>
    analyst.analyse('owner', new MemoryTree(files), '', abort);
}

/** Processes of analyses that this one, or the one that is named, has started. */
function childrenOf(parent = process.pid): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const [state, ppid] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
        return Number(ppid) === parent && state !== 'Z' && command.includes('process/child.ts');
      } catch {
        return false; // it has ended meanwhile
      }
    })
    .map(Number);
}

async function stopped(running: Promise<unknown>): Promise<Fault> {
  const error = await running.then(
    () => assert.fail('it succeeded'),
    (failed: unknown) => failed,
  );
  assert.ok(error instanceof Fault, String(error));
  assert.equal(error.code, 'analysis_stopped');
  assert.match(error.hint ?? '', /rootDirectory/);
  return error;
}

test('whoever wants to burn a processor for ever with one file is stopped for good, and is told the file', async (t) => {
  const look = analystFor(t, { cpuMs: 2_000 });
  const fault = await stopped(look(endless));
  assert.match(fault.message, /2 seconds of processor time/);
  assert.equal(fault.evidence, 'src/bomb.js');
  await until(() => childrenOf().length === 0, 'the process to be gone');
  assert.equal((await look(harmless)).apps[0]?.framework, 'express', 'the next one is served');
});

test('time on the clock, memory and the size of a result have their ends, each with its own words', async (t) => {
  assert.match((await stopped(analystFor(t, { wallMs: 1_500 })(endless))).message, /1\.5 seconds\./);
  assert.match((await stopped(analystFor(t, { memoryMb: 40 })(endless))).message, /40 MB of memory/);
  assert.match(
    (await stopped(analystFor(t, { resultBytes: 100 })(harmless))).message,
    /100 bytes of findings/,
  );
  await until(() => childrenOf().length === 0, 'the processes to be gone');
});

test('a parser that crashes takes its own process with it and nothing else', async (t) => {
  const look = analystFor(t);
  const running = look(endless);
  running.catch(() => undefined);
  const [pid = 0] = await until(() => childrenOf().length > 0 && childrenOf(), 'the process to start');
  process.kill(pid, 'SIGSEGV');
  // One that has not begun yet is no fault of the repository; then it is asked once more.
  const error = await running.catch((failed: unknown) => failed);
  if (!(error instanceof ChildEnded)) await stopped(Promise.reject(error));
  assert.equal((await look(harmless)).apps.length, 1);
});

test('an analysis that nobody waits for any more is ended', async (t) => {
  const controller = new AbortController();
  const running = analystFor(t)(endless, controller.signal);
  running.catch(() => undefined);
  await until(() => childrenOf().length > 0, 'the process to start');
  controller.abort(new Error('gone'));
  await assert.rejects(running, /gone/);
  await until(() => childrenOf().length === 0, 'the process to be gone');
});

test('a process that did well is used again, and what one repository left does not show in the next', async (t) => {
  const look = analystFor(t);
  const first = await look({ ...harmless, '.env.example': 'SECRET_OF_ONE=1' });
  const before = childrenOf();
  const second = await look(harmless);
  assert.deepEqual(childrenOf(), before);
  assert.ok(first.variables.some(({ key }) => key === 'SECRET_OF_ONE'));
  assert.ok(!JSON.stringify(second).includes('SECRET_OF_ONE'));
});

test('every thread of the process yields to the service, and memory that runs out is taken from it first', async (t) => {
  await analystFor(t)(harmless);
  const [pid] = childrenOf();
  const threads = readdirSync(`/proc/${pid}/task`).map(Number);
  assert.ok(threads.length > 1);
  assert.deepEqual(
    [...new Set(threads.map((each) => getPriority(each)))],
    [Math.min(19, getPriority() + 10)],
  );
  assert.equal(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim(), '1000');
});

test('whoever gets into the process finds no secret of the service there', async (t) => {
  process.env.SLIPWAY_TEST_SECRET = 'hidden';
  t.after(() => delete process.env.SLIPWAY_TEST_SECRET);
  await analystFor(t)(harmless);
  const [pid] = childrenOf();
  const names = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').filter(Boolean);
  assert.deepEqual(
    names.filter((each) => !each.startsWith('NODE_CHANNEL_')),
    [],
  );
  const open = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  const own = /^(?:\/dev\/null|pipe:|socket:|anon_inode:)/;
  assert.deepEqual(
    open.filter((each) => !own.test(each)),
    [],
  );
  assert.equal(open.filter((each) => each.startsWith('socket:')).length, 2, 'its channel, and what it says');
});

/** A program of a few lines in place of the analysis. */
function programOf(t: TestContext, code: string) {
  const folder = temporaryFolder('child');
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const cache = join(folder, 'cache');
  mkdirSync(cache);
  mkdirSync(join(folder, 'code'));
  const entry = join(folder, 'code', 'entry.mjs');
  writeFileSync(entry, code);
  return { entry, reads: [join(folder, 'code')], cache };
}

test('the process can neither read the files of the service, nor write, nor start anything', async (t) => {
  const secret = join(temporaryFolder('secret'), 'master.key');
  writeFileSync(secret, 'key');
  const child = new Child(
    programOf(
      t,
      `import { readFileSync, writeFileSync } from 'node:fs';
       import { spawnSync } from 'node:child_process';
       const codeOf = (attempt) => { try { return String(attempt()); } catch (error) { return error.code ?? error.name; } };
       process.send([
         codeOf(() => readFileSync(${JSON.stringify(secret)})),
         codeOf(() => readFileSync('/etc/passwd')),
         codeOf(() => writeFileSync(${JSON.stringify(`${secret}.x`)}, 'x')),
         codeOf(() => spawnSync('/bin/true').status),
         codeOf(() => new Function('return 1')()),
       ]);
       process.on('disconnect', () => process.exit());`,
    ),
  );
  t.after(() => child.kill());
  const denied = 'ERR_ACCESS_DENIED';
  assert.deepEqual(await child.receive(), [denied, denied, denied, denied, 'EvalError']);
});

test('whoever floods the service with analyses does not keep others from theirs', async (t) => {
  const program = programOf(t, `process.on('message', () => process.send('done')); process.send('ready');`);
  const pool = new ChildPool({ program, mostRunning: 1, idleMs: 60_000, startMs: hangMs });
  t.after(() => pool.close());
  const order: string[] = [];
  const run = (owner: string) =>
    pool.run(owner, signal(), async (child) => {
      await child.send({});
      order.push(`${owner} ${await child.receive()}`);
      return { value: undefined, isReusable: true };
    });
  await Promise.all([run('flood'), run('flood'), run('flood'), run('other')]);
  assert.deepEqual(order, ['flood done', 'other done', 'flood done', 'flood done']);
});

test('when the service is killed the process ends too, however busy it is', async (t) => {
  const host = spawn(process.execPath, [join(import.meta.dirname, 'analyst-host.ts')], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  t.after(() => host.kill('SIGKILL'));
  const started = await until(() => childrenOf(host.pid).length > 0 && childrenOf(host.pid), 'the process');
  const [pid = 0] = started;
  const usedTicks = () =>
    Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[11]);
  // It has begun on the file that keeps it busy: starting takes less than this.
  await until(() => usedTicks() > 300, 'it to be busy');
  host.kill('SIGKILL');
  await until(() => {
    try {
      return !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('process/child.ts');
    } catch {
      return true;
    }
  }, 'the process to be gone');
});

test('a program of ours that does not load is told as that at once, and no repository is blamed', async (t) => {
  const watch = new URL('../../src/analysis/process/watch.ts', import.meta.url).href;
  const program = programOf(
    t,
    `import { isMainThread } from 'node:worker_threads';
if (isMainThread) (await import('${watch}')).watch(import.meta.url, '');
else throw new Error('it does not load');`,
  );
  const reads = [...program.reads, fileURLToPath(new URL('.', watch)), join(root, 'package.json')];
  const pool = new ChildPool({
    program: { ...program, reads },
    mostRunning: 1,
    idleMs: 60_000,
    startMs: hangMs,
  });
  t.after(() => pool.close());
  const running = pool.run('owner', signal(), async (child) => {
    const value = await child.receive();
    return { value, isReusable: false };
  });
  await assert.rejects(
    running,
    (error) => error instanceof ChildEnded && /it does not load/.test(error.message),
  );
});
