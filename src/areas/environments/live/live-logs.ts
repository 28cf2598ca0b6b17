/**
 * The lines of running apps, live. Nothing of it is stored: who comes later gets the last lines that Docker kept. Owns
 * who watches what; an environment that many watch is asked for once.
 */
import type { Logger } from 'pino';
import { type Clock, second } from '../../../clock.ts';
import type { LiveView, ShownContainer } from '../../../engine/live-view.ts';
import { SingleServerViews } from '../../../engine/single-server/live.ts';
import { joinedView } from '../../../engine/swarm/live.ts';
import { Fault } from '../../../fault.ts';
import type { EnvironmentId, WorkspaceId } from '../../../ids.ts';
import type { Secret } from '../../../secret.ts';
import type { Database } from '../../../store/database.ts';
import { connectTo } from '../../servers/connection/connect-server.ts';
import { isServerUnavailable } from '../../servers/connection/server-retry.ts';
import type { ServerAccess } from '../../servers/servers.ts';
import { environmentNotFound } from '../environments.ts';
import { listPeers } from '../placement/placement-queries.ts';
import * as queries from '../queries.ts';
import { type LiveLine, LiveWatch, type Viewer, type WatchEnd, type Watched } from './live-watch.ts';

export interface LiveLogsContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly servers: ServerAccess;
  readonly log: Logger;
  /** Every secret that a container of the environment may know: of the release that runs, and of one that is coming. */
  secretsOf(workspaceId: WorkspaceId, environmentId: EnvironmentId): Promise<readonly Secret[]>;
}

export interface LogsInput {
  /** So many of the last lines first. */
  readonly tail: number;
  /** Of this process only; of all, if undefined. */
  readonly process: string | undefined;
}

type Send = (kind: string, data: object) => void;

export const mostViewers = 10;
const lookEveryMs = 5 * second;
const lookLimitMs = 60 * second;
const comeBackSeconds = 30;

export class LiveLogs {
  readonly #ctx: LiveLogsContext;
  readonly #everyMs: number;
  readonly #views = new SingleServerViews();
  readonly #watches = new Map<EnvironmentId, LiveWatch>();
  #isStopped = false;

  constructor(ctx: LiveLogsContext, everyMs = lookEveryMs) {
    this.#ctx = ctx;
    this.#everyMs = everyMs;
  }

  /** What can be refused is refused before the stream begins; the rest is run by whoever sends it. */
  async open(workspaceId: WorkspaceId, environmentId: EnvironmentId, input: LogsInput) {
    if (!(await queries.findEnvironment(this.#ctx.db, workspaceId, environmentId)))
      throw environmentNotFound();
    if (this.#isStopped) throw new Fault('shutting_down', 'The service is stopping.');
    if ((this.#watches.get(environmentId)?.size ?? 0) >= mostViewers) throw tooMany();
    return (send: Send, signal: AbortSignal) => this.#follow(workspaceId, environmentId, input, send, signal);
  }

  /** Ends all, so that the server can close; their readers come back to whoever serves next. */
  stop(): void {
    this.#isStopped = true;
    for (const watch of this.#watches.values()) watch.end('left');
  }

  async #follow(
    workspaceId: WorkspaceId,
    environmentId: EnvironmentId,
    input: LogsInput,
    send: Send,
    signal: AbortSignal,
  ): Promise<WatchEnd> {
    const { promise, resolve } = Promise.withResolvers<WatchEnd>();
    if (signal.aborted || this.#isStopped) return 'left';
    const watch = this.#watches.get(environmentId) ?? this.#begin(workspaceId, environmentId);
    const viewer = viewerOf(input, send, resolve);
    signal.addEventListener('abort', () => resolve('left'), { once: true });
    watch.join(viewer);
    const end = await promise;
    watch.leave(viewer);
    return end;
  }

  /** As they are on the server at this moment. */
  async containers(workspaceId: WorkspaceId, environmentId: EnvironmentId) {
    const view = await this.#open(workspaceId, environmentId, AbortSignal.timeout(lookLimitMs));
    const checkedAt = this.#ctx.clock.now().toISOString();
    const seen = view ? await view.containers() : [];
    return { containers: seen.map(({ shown }): ShownContainer => shown), checkedAt };
  }

  /** Null where it stands on no server. */
  async #open(
    workspaceId: WorkspaceId,
    environmentId: EnvironmentId,
    signal: AbortSignal,
  ): Promise<LiveView | null> {
    const { db } = this.#ctx;
    const environment = await queries.findEnvironment(db, workspaceId, environmentId);
    if (!environment) throw environmentNotFound();
    const { serverId } = environment;
    if (serverId === null) return null;
    const { clusterId, serverIds } = await listPeers(db, workspaceId, serverId);
    const views = [];
    for (const id of serverIds) {
      const { remote } = await connectTo(this.#ctx.servers, workspaceId, id);
      views.push(this.#views.open({ workspaceId, environmentId, serverId: id }, remote, signal));
    }
    return clusterId === null ? (views[0] ?? null) : joinedView(views, isServerUnavailable);
  }

  #begin(workspaceId: WorkspaceId, environmentId: EnvironmentId): LiveWatch {
    const { log, secretsOf } = this.#ctx;
    const watched: Watched = {
      log,
      secrets: () => secretsOf(workspaceId, environmentId),
      view: (signal) => this.#open(workspaceId, environmentId, signal),
    };
    const watch = new LiveWatch(watched, this.#everyMs, () => {
      if (this.#watches.get(environmentId) === watch) this.#watches.delete(environmentId);
    });
    this.#watches.set(environmentId, watch);
    void watch.run();
    return watch;
  }
}

function viewerOf({ tail, process }: LogsInput, send: Send, end: Viewer['end']): Viewer {
  const isWanted = (line: LiveLine) => process === undefined || line.process === process;
  const tell = (line: LiveLine) => send('line', line);
  return {
    caughtUp: (lines) => {
      if (tail > 0) for (const line of lines.filter(isWanted).slice(-tail)) tell(line);
    },
    line: (line) => {
      if (isWanted(line)) tell(line);
    },
    state: (containers) => send('state', { containers }),
    problem: ({ code, message, hint }) =>
      send('problem', { code, message, ...(hint !== undefined && { hint }) }),
    end,
  };
}

function tooMany(): Fault {
  return new Fault('rate_limited', `At most ${mostViewers} may follow the lines of an environment at once.`, {
    hint: 'Close another stream of it first.',
    retryAfterSeconds: comeBackSeconds,
  });
}
