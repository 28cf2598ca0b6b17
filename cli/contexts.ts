/**
 * Where one is signed in to, kept between two commands: a file of its own, readable by nobody else. Two commands at once
 * take turns at changing it: a refresh token works once.
 */
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TokenStore, Tokens } from '../sdk/index.ts';
import { CliError } from './command.ts';

export interface Context {
  readonly url: string;
  /** Who signed in; nothing for a token. */
  readonly email?: string;
  /** An API token. */
  readonly token?: string;
  /** Of a session. */
  readonly tokens?: Tokens;
  readonly workspace?: string;
}

interface Kept {
  readonly current?: string;
  readonly contexts: Readonly<Record<string, Context>>;
}

/** Nobody holds the turn this long: whoever did has died. */
const abandonedMs = 30_000;

function folder(): string {
  const { SLIPWAY_CONFIG_DIR, XDG_CONFIG_HOME } = process.env;
  return SLIPWAY_CONFIG_DIR ?? join(XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'slipway');
}

export const contextsFile = () => join(folder(), 'contexts.json');

export function readContexts(): Kept {
  let text: string;
  try {
    text = readFileSync(contextsFile(), 'utf8');
  } catch (error) {
    if (Object(error).code === 'ENOENT') return { contexts: {} };
    throw error;
  }
  try {
    return { contexts: {}, ...Object(JSON.parse(text)) };
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new CliError(`${contextsFile()} cannot be read: ${cause}`, 'Remove it, then sign in again.');
  }
}

function writeContexts(kept: Kept): void {
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  const half = `${contextsFile()}.${process.pid}`;
  // Whole or not at all, and never readable by others, not even for a moment.
  writeFileSync(half, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
  renameSync(half, contextsFile());
}

export async function saveContext(name: string, context: Context | undefined): Promise<void> {
  await alone(async () => {
    const { contexts, current } = readContexts();
    const { [name]: _old, ...others } = contexts;
    if (context) return writeContexts({ current: name, contexts: { ...others, [name]: context } });
    const next = current === name ? Object.keys(others)[0] : current;
    writeContexts({ contexts: others, ...(next !== undefined && { current: next }) });
  });
}

export async function useContext(name: string): Promise<void> {
  await alone(async () => writeContexts({ ...readContexts(), current: name }));
}

export function tokenStoreOf(name: string): TokenStore {
  const read = () => readContexts().contexts[name];
  return {
    read: async () => read()?.tokens,
    write: async (tokens) => {
      const { tokens: _old, ...context } = read() ?? { url: '' };
      const { contexts, ...kept } = readContexts();
      writeContexts({
        ...kept,
        contexts: { ...contexts, [name]: { ...context, ...(tokens && { tokens }) } },
      });
    },
    alone,
  };
}

async function alone<T>(work: () => Promise<T>): Promise<T> {
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  const lock = join(folder(), 'contexts.lock');
  while (!isTaken(lock)) await sleep(25);
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function isTaken(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx', 0o600));
    return true;
  } catch (error) {
    if (Object(error).code !== 'EEXIST') throw error;
    const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - since > abandonedMs) rmSync(lock, { force: true });
    return false;
  }
}
