/**
 * A Git host over real bare repositories, with GitHub's REST API in front that agrees with them commit for
 * commit, and signed webhooks on each push. Owns one address and one folder; what is in the folder outlives it.
 * Refuses to run anything that a repository brings along, and serves neither pages, nor SSH, nor pull requests.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { type Control, controlOf } from './control.ts';
import { Faults } from './faults.ts';
import { Registry } from './registry.ts';
import { Git } from './repository/git.ts';
import { Repositories } from './repository/repositories.ts';
import { ArchiveLinks, archivePrefix, serveArchive } from './rest/archive-links.ts';
import { RateLimits, secondaryLimit } from './rest/rate-limits.ts';
import { serveRest } from './rest/rest.ts';
import { gitRequestOf, serveGit } from './smart-http/smart-http.ts';
import { openStore } from './state.ts';
import { apiPath, Urls } from './views/urls.ts';
import { Pushes } from './webhooks/pushes.ts';
import { Webhooks } from './webhooks/webhooks.ts';

export interface GitHostOptions {
  readonly address: string;
  /** 0 for one that is free. */
  readonly port: number;
  readonly dir: string;
  /** What answers call the host; its address and port, if not given. */
  readonly publicUrl?: string;
  /** What went wrong where no request could be told; a warning of the process, if not given. */
  readonly onError?: (error: Error) => void;
}

export interface GitHost extends Control {
  readonly url: string;
  readonly apiUrl: string;
  readonly port: number;
  /** Resolves when no push and no delivery is on its way. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** A connection on which nothing moved for so long has nobody at its other end. */
const idleConnectionMs = 120_000;

export async function startGitHost(options: GitHostOptions): Promise<GitHost> {
  const report = (error: unknown) => {
    if (isGoneClient(error)) return;
    const known = error instanceof Error ? error : new Error(String(error));
    (options.onError ?? process.emitWarning)(known);
  };
  const registry = new Registry(openStore(options.dir));
  const git = new Git();
  const repositories = new Repositories(git, options.dir);
  for (const repository of registry.store.state.repositories) repositories.resetConfiguration(repository);
  const webhooks = new Webhooks(registry.store, report);
  // Last, because a folder that cannot be used must not leave an open port behind.
  const server = createServer();
  const port = await listen(server, options.address, options.port);
  const urls = new Urls(options.publicUrl ?? `http://${options.address}:${port}`);
  const pushes = new Pushes(registry, repositories, webhooks, urls);
  const limits = new RateLimits();
  const faults = new Faults();
  const archives = new ArchiveLinks();
  const host = { registry, repositories, webhooks, pushes, urls, archives, limits, onError: report };
  const stop = new AbortController();

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = urlOf(request);
    if (!url) return plain(response, 400, 'Bad request');
    const fault = faults.for(url.pathname);
    if (fault?.delayMs) await setTimeout(fault.delayMs, undefined, { signal: stop.signal });
    if (fault?.status) return trouble(response, fault.status);
    if (url.pathname.startsWith(`${apiPath}/`)) return serveRest(host, url, request, response);
    if (url.pathname.startsWith(archivePrefix)) return serveArchive(host, url, request, response);
    const wanted = gitRequestOf(url);
    return wanted ? serveGit(host, wanted, request, response) : plain(response, 404, 'Not found');
  }

  const underWay = new Set<Promise<void>>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const served = serve(request, response).catch((error: unknown) => {
      report(error);
      // An answer that was begun can only be broken off; its reader must not take it for whole.
      if (response.headersSent) response.destroy();
      else plain(response, 500, 'Something went wrong inside the Git host.');
    });
    underWay.add(served);
    void served.then(() => underWay.delete(served));
  });
  // A push may take long; only silence ends a connection.
  server.requestTimeout = 0;
  server.setTimeout(idleConnectionMs);

  return {
    ...controlOf({ registry, repositories, pushes, limits, faults, urls }),
    url: urls.base,
    apiUrl: urls.api,
    port,
    idle: async () => {
      await pushes.idle();
      await webhooks.idle();
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      stop.abort();
      server.closeAllConnections();
      await Promise.all(underWay);
      await pushes.idle();
      await webhooks.close();
      await git.close();
      await closed;
    },
  };
}

async function listen(
  server: ReturnType<typeof createServer>,
  address: string,
  port: number,
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The Git host has no port.');
  return bound.port;
}

function urlOf(request: IncomingMessage): URL | undefined {
  const text = `http://host${request.url ?? '/'}`;
  return request.url?.startsWith('/') && URL.canParse(text) ? new URL(text) : undefined;
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' });
  response.end(`${text}\n`);
}

function trouble(response: ServerResponse, status: number): void {
  const { body, headers } = secondaryLimit(60);
  const isLimit = status === 429;
  response.writeHead(status, { 'Content-Type': 'application/json', ...(isLimit ? headers : {}) });
  response.end(JSON.stringify(isLimit ? body : { message: 'Server Error', status: String(status) }));
}

/** Clients go whenever they like. */
function isGoneClient(error: unknown): boolean {
  const codes = ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR'];
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
