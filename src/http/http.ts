/** The HTTP side of the service, whatever its areas are: limits, access, streams, the server, and who watches it. */
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { FeedHub } from '../events/feed-hub.ts';
import { readBacklog } from '../operations/backlog.ts';
import type { Sessions } from '../principal.ts';
import type { Store } from '../store/store.ts';
import { AccessControl, type ProjectLookup } from './access.ts';
import { dashboardRoutes, sendDashboard, wantsDashboard } from './dashboard/dashboard.ts';
import { docsRoutes } from './docs.ts';
import { drainable } from './drain.ts';
import { homeRoutes } from './home.ts';
import { Idempotency } from './idempotency.ts';
import { Limits } from './limits.ts';
import { listen } from './listen.ts';
import { mcpRoutes } from './mcp/mcp-routes.ts';
import { Metrics } from './metrics.ts';
import { healthRoute, monitorRoutes } from './monitor.ts';
import { Routes } from './routes.ts';
import { createServer, type HttpServer } from './server.ts';
import { StreamSlots } from './stream-slots.ts';
import { formatEvent, Streams } from './streams.ts';
import { Throttle } from './throttle.ts';

export interface HttpOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly clock: Clock;
  readonly store: Store;
  readonly sessions: Sessions;
  readonly projects: ProjectLookup;
  readonly isStopping: () => boolean;
  readonly heartbeatMs: number | undefined;
  readonly onServer: ((server: HttpServer) => unknown) | undefined;
}

export async function createHttp(options: HttpOptions) {
  const { config, log, clock, store, sessions, projects, isStopping, heartbeatMs, onServer } = options;
  const { db } = store;
  const throttle = new Throttle(db, clock, log);
  const limits = new Limits(throttle, store.masterKeys, sessions, config);
  const metrics = new Metrics(() => readBacklog(db));
  const hub = new FeedHub(db, log, formatEvent);
  const streams = new Streams(db, hub, sessions, log, heartbeatMs);
  const accessControl = new AccessControl(sessions, limits, projects, clock, config);
  const context = { config, log, accessControl, limits, metrics };
  const server = await createServer({
    ...context,
    otherwise: { takes: wantsDashboard, answer: sendDashboard },
  });
  await onServer?.(server);
  healthRoute(server);
  homeRoutes(server, config);
  dashboardRoutes(server);
  if (config.docs) docsRoutes(server);
  mcpRoutes(server);
  const slots = new StreamSlots({ perAccount: config.limitStreams, inAll: config.limitStreamsTotal });
  const idempotency = new Idempotency(db, clock, store.masterKeys.derive('idempotency'));
  const routes = new Routes(server, { db, idempotency, streams, slots, sessions });
  const { monitorListen } = config;

  /** On the main address after all other routes, or on one of its own. Gives back what closes the latter. */
  async function openMonitor(): Promise<(() => unknown) | undefined> {
    if (monitorListen.at === 'main') monitorRoutes(server, { db, isStopping }, metrics);
    if (monitorListen.at !== 'address') return undefined;
    const monitor = await createServer(context);
    monitorRoutes(monitor, { db, isStopping }, metrics);
    const drain = drainable(monitor.server, () => monitor.close());
    await listen(monitor, monitorListen.host, monitorListen.port, 'SLIPWAY_MONITOR_LISTEN');
    return drain;
  }
  return { throttle, metrics, hub, streams, server, routes, openMonitor };
}
