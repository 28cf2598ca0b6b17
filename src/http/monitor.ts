/**
 * For those who watch the service: `/healthz` (alive), `/readyz` (able to work) and `/metrics` (Prometheus).
 * The last two show the inside, so they listen only where the settings say.
 */
import Type from 'typebox';
import { Fault } from '../fault.ts';
import { once } from '../once.ts';
import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import type { HttpServer } from './server.ts';

const access = { kind: 'probe' } as const;
const tags = ['Service'];

export function healthRoute(app: HttpServer): void {
  app.get('/healthz', {
    config: { access },
    schema: {
      tags,
      operationId: 'health',
      summary: 'Whether the process is alive',
      response: { 200: Type.Object({ status: Type.Literal('ok') }, { title: 'Health' }) },
    },
    handler: async () => ({ status: 'ok' as const }),
  });
}

export interface Readiness {
  readonly db: Database;
  readonly isStopping: () => boolean;
}

export function monitorRoutes(app: HttpServer, { db, isStopping }: Readiness, metrics: Metrics): void {
  app.get('/readyz', {
    config: { access, faults: ['shutting_down'] },
    schema: {
      tags,
      operationId: 'readiness',
      summary: 'Whether the service can work: its database answers and it is not stopping',
      response: { 200: Type.Object({ status: Type.Literal('ready') }, { title: 'Readiness' }) },
    },
    handler: async () => {
      if (isStopping()) throw new Fault('shutting_down', 'The service is stopping.');
      await db.one(sql`select 1`);
      return { status: 'ready' as const };
    },
  });
  app.get('/metrics', {
    config: { access },
    schema: {
      tags,
      operationId: 'metrics',
      summary: 'Figures for Prometheus',
      response: {
        200: { description: 'Prometheus text format.', content: { 'text/plain': { schema: Type.String() } } },
      },
    },
    handler: async (_request, reply) => {
      const { registry } = await metrics.load();
      return reply
        .type(registry.contentType)
        .serializer(String)
        .send(await registry.metrics());
    },
  });
}

/** Request times, by route. The library is loaded after the start, so that nobody waits for it. */
export class Metrics {
  #requests: { observe(labels: Record<string, string | number>, seconds: number): void } | undefined;

  readonly load = once(async () => {
    const { collectDefaultMetrics, Histogram, Registry } = await import('prom-client');
    const registry = new Registry();
    collectDefaultMetrics({ register: registry, prefix: 'slipway_' });
    this.#requests = new Histogram({
      name: 'slipway_http_request_seconds',
      help: 'Time to answer a request, by route and status.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers: [registry],
    });
    return { registry };
  });

  count(method: string, route: string | undefined, status: number, ms: number): void {
    this.#requests?.observe({ method, route: route ?? 'unknown', status }, ms / 1000);
  }
}
