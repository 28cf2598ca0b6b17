/** The front door alone, on a service's database, with routes that only a test has. */
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { Logger } from 'pino';
import { Authenticator } from '../../src/areas/accounts/authenticate.ts';
import { projectLookup } from '../../src/areas/environments/project-lookup.ts';
import { readConfig } from '../../src/config.ts';
import { AccessControl } from '../../src/http/access.ts';
import { Limits } from '../../src/http/limits.ts';
import { Metrics } from '../../src/http/metrics.ts';
import { createServer, type HttpServer } from '../../src/http/server.ts';
import { Throttle } from '../../src/http/throttle.ts';
import { createLog } from '../../src/log.ts';
import { readBacklog } from '../../src/operations/backlog.ts';
import type { TestApp } from './app.ts';

/** Where a test looks at what it logs and counts. */
interface Watched {
  readonly log?: Logger;
  readonly metrics?: Metrics;
}

/** Not started yet: routes can be added. */
export async function createBareServer(
  { app, clock }: TestApp,
  { log = createLog('silent'), metrics }: Watched = {},
): Promise<HttpServer> {
  const { db, masterKeys } = app.store;
  const config = readConfig({ SLIPWAY_LIMIT_REQUESTS: '1000000', SLIPWAY_LIMIT_SIGN_IN: '100000' });
  const sessions = new Authenticator(db, clock, masterKeys);
  const limits = new Limits(new Throttle(db, clock, log), masterKeys, sessions, config);
  const accessControl = new AccessControl(sessions, limits, projectLookup(db), clock, config);
  const own = metrics ?? new Metrics(() => readBacklog(db));
  return createServer({ config, log, accessControl, limits, metrics: own });
}

/** Starts a server with the routes that `addRoutes` gives it; where it listens. */
export async function startBareServer(
  t: TestContext,
  service: TestApp,
  addRoutes: (server: HttpServer) => void,
  watched: Watched = {},
): Promise<string> {
  const server = await createBareServer(service, watched);
  addRoutes(server);
  await server.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close());
  const address: AddressInfo | string | null = server.server.address();
  if (typeof address !== 'object' || !address) throw new Error('the server does not listen');
  return `http://127.0.0.1:${address.port}`;
}
