/** The whole service inside a test, on a database and a port of its own, spoken to over real HTTP. */
import { rmSync } from 'node:fs';
import type { TestContext } from 'node:test';
import type { ProcessLimits } from '../../src/analysis/limits.ts';
import { type App, startApp } from '../../src/app.ts';
import type { DeployPush } from '../../src/areas/pushes/pushes.ts';
import type { Clock } from '../../src/clock.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { apiDocument } from './document.ts';
import { Mailbox } from './mailbox.ts';
import { createTestDatabase, temporaryFolder } from './postgres.ts';

export class TestClock implements Clock {
  #ms = Date.now();

  now(): Date {
    return new Date(this.#ms);
  }

  advance(ms: number): void {
    this.#ms += ms;
  }
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON body, or undefined where there is none. */
  readonly body: Record<string, unknown>;
  readonly text: string;
}

export interface CallOptions {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface TestApp {
  readonly app: App;
  readonly url: string;
  readonly clock: TestClock;
  readonly mailbox: Mailbox;
  /** Log lines, parsed. */
  readonly logLines: Record<string, unknown>[];
  readonly databaseUrl: string;
  readonly masterKey: string;
  /** What ends this instance and those beside it. */
  readonly stops: (() => Promise<void>)[];
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

export interface TestAppOptions {
  readonly env?: Record<string, string>;
  /** Another instance on the same database: pass what the first one has. */
  readonly beside?: TestApp;
  readonly heartbeatMs?: number;
  readonly deployPush?: DeployPush;
  readonly analysisLimits?: Partial<ProcessLimits>;
}

/** For one test alone, which looks at the whole of it, stops it, or sets it up in its own way. */
export async function startTestApp(t: TestContext, options: TestAppOptions = {}): Promise<TestApp> {
  const service = await openTestApp(options);
  if (!options.beside) t.after(() => closeTestApp(service));
  return service;
}

/** An instance beside another is stopped with it, and before it. */
export async function closeTestApp({ stops }: TestApp): Promise<void> {
  for (const stop of stops.reverse()) await stop();
}

/** Limits are out of the way unless a test sets them: `SLIPWAY_LIMIT_SIGN_IN` and `SLIPWAY_LIMIT_REQUESTS`. */
export async function openTestApp(options: TestAppOptions): Promise<TestApp> {
  const { beside } = options;
  const dataDir = temporaryFolder('app');
  const databaseUrl = beside?.databaseUrl ?? (await createTestDatabase());
  const masterKey = beside?.masterKey ?? Buffer.alloc(32, 7).toString('base64');
  const config = readConfig({
    SLIPWAY_DATA_DIR: dataDir,
    SLIPWAY_DATABASE_URL: databaseUrl,
    SLIPWAY_MASTER_KEY: masterKey,
    SLIPWAY_PORT: '0',
    SLIPWAY_LIMIT_SIGN_IN: '100000',
    SLIPWAY_LIMIT_REQUESTS: '1000000',
    SLIPWAY_REGISTRATION: 'open',
    SLIPWAY_LIMIT_TESTS: '1000000',
    // A server that nobody has to reach stands at 127.0.0.1; the lab's stand in private networks.
    SLIPWAY_SERVER_NETWORKS: '127.0.0.1,private',
    ...options.env,
  });
  const logLines: Record<string, unknown>[] = [];
  const log = createLog('debug', { write: (line) => void logLines.push(JSON.parse(line)) });
  const clock = beside?.clock ?? new TestClock();
  const app = await startApp(config, log, {
    clock,
    ...(options.heartbeatMs === undefined ? {} : { heartbeatMs: options.heartbeatMs }),
    ...(options.deployPush && { deployPush: options.deployPush }),
    ...(options.analysisLimits && { analysisLimits: options.analysisLimits }),
  });
  const stops = beside ? beside.stops : [];
  stops.push(async () => {
    await app.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const mailbox = new Mailbox(app.store.folder.outboxDir);
  const call: TestApp['call'] = (method, path, callOptions) => callApi(app.url, method, path, callOptions);
  return { app, url: app.url, clock, mailbox, logLines, databaseUrl, masterKey, stops, call };
}

/**
 * `path` is below `/api/v1`, unless it begins with `//`, which stands for the root of the instance. What comes back has
 * to be as the document says.
 */
export async function callApi(
  url: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { token, body, headers } = options;
  const isForm = body instanceof FormData;
  const below = path.startsWith('//') ? path.slice(1) : `/api/v1${path}`;
  const answer = await fetch(`${url}${below}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' || isForm ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const operation = apiDocument().find(method, below);
  if (operation)
    apiDocument().checkAnswer(operation, { status: answer.status, headers: answer.headers, text });
  const isJson = /[/+]json\b/.test(answer.headers.get('content-type') ?? '') && text !== '';
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : {}, text };
}
