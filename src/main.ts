/** The process: reads the settings, starts, says where everything is, and stops in good order. */
import type { App } from './app.ts';
import { readConfig } from './config.ts';
import { errorText, Fault } from './fault.ts';
import { atTerminal, createLog } from './log.ts';
import { openStore } from './store/store.ts';

/** A person at a terminal is told the address, where the rest is found; whoever reads this by a program is told all. */
const isTerminal = process.stdout.isTTY === true;
/** Over what `scripts/run.mjs` has left in the line while we were loaded. */
const cleared = isTerminal ? '\r\x1b[K' : '';
const print = (text: string) => process.stdout.write(text);
let app: Promise<App> | undefined;
let stopping = false;
let askedAt = 0;
let isAnnounced = false;
/** npm hands on to us the Ctrl-C that the terminal has sent us already: so soon after, it is the same press. */
const samePressMs = 500;
const restMs = 5_000;
/** Of a core. */
const restingShare = 0.05;
const worthBytes = 8 * 1024 * 1024;

// Taken from the first moment, so that a stop during the start is in good order too.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(signal));

try {
  const config = readConfig(process.env);
  // What a start does is nobody's business at a terminal, unless it goes wrong.
  const log = createLog(config.logLevel, isTerminal ? atTerminal(() => !isAnnounced) : undefined);
  // The database starts while the rest of the code is loaded: together they are most of the way to the first answer.
  const opening = openStore(config, log);
  opening.catch(() => undefined); // told below, by whoever waits for it
  app = import('./app.ts').then(({ startApp }) => startApp(config, log, { print }, opening));
  const { url, publicUrl, mailer } = await app;
  if (!stopping) {
    isAnnounced = true;
    const docs = config.docs ? `Documentation: ${publicUrl}/api/docs\n` : '';
    if (isTerminal) print(`${cleared}Slipway is running at ${publicUrl}\n`);
    else print(`Slipway is running at ${url}/api/v1\n${docs}${mailer.destination}\n`);
    giveBackMemoryAtRest();
  }
} catch (error) {
  if (!stopping) fail(error);
}

/**
 * V8 collects when something is allocated: a service with nothing to do would keep for hours what its start, or its last
 * work, took. After some quiet seconds it is given back, which takes about as long as a slow answer does.
 */
function giveBackMemoryAtRest(): void {
  let before = performance.eventLoopUtilization();
  let keptBytes = 0;
  const look = () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization > restingShare || process.memoryUsage.rss() < keptBytes + worthBytes) return;
    // There as `scripts/run.mjs` starts the service.
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    keptBytes = process.memoryUsage.rss();
  };
  setInterval(look, restMs).unref();
}

async function stop(signal: NodeJS.Signals): Promise<void> {
  if (stopping && performance.now() - askedAt < samePressMs) return;
  if (stopping) process.exit(1); // asked twice: the person does not want to wait
  stopping = true;
  askedAt = performance.now();
  print(`${signal === 'SIGINT' ? '\n' : ''}${cleared}Stopping …\n`);
  try {
    await (await app)?.stop();
  } catch (error) {
    return fail(error);
  }
  print('Stopped.\n');
  process.exit(0);
}

function fail(error: unknown): never {
  const known = error instanceof Fault;
  process.stderr.write(`${process.stderr.isTTY ? cleared : ''}Slipway: ${errorText(error)}\n`);
  if (known && error.hint) process.stderr.write(`${error.hint}\n`);
  if (known && error.evidence) process.stderr.write(`${error.evidence}\n`);
  if (!known && error instanceof Error && error.stack) process.stderr.write(`${error.stack}\n`);
  process.exit(1);
}
