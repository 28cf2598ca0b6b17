/**
 * For those who watch the service: `/healthz` (alive), `/readyz` (able to work) and `/metrics` (Prometheus).
 * The last two show the inside, so they listen only where the settings say, and may ask for a token.
 */
import Type from 'typebox';
import { Fault } from '../fault.ts';
import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import type { Metrics } from './metrics.ts';
import type { HttpServer } from './server.ts';

const probe = { kind: 'probe' } as const;
const monitor = { kind: 'monitor' } as const;
const tags = ['Monitoring'];

export function healthRoute(app: HttpServer): void {
  app.get('/healthz', {
    // Nothing is asked of who calls; what the connection itself refuses is all that can be wrong.
    config: { access: probe, faults: ['headers_too_large'] },
    schema: {
      tags,
      operationId: 'getHealth',
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
    config: { access: monitor, faults: ['shutting_down'] },
    schema: {
      tags,
      operationId: 'getReadiness',
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
    config: { access: monitor },
    schema: {
      tags,
      operationId: 'getMetrics',
      summary: 'Figures for Prometheus',
      response: {
        200: { description: 'Prometheus text format.', content: { 'text/plain': { schema: Type.String() } } },
      },
    },
    handler: async (_request, reply) => {
      const { type, text } = await metrics.told();
      return reply.type(type).serializer(String).send(text);
    },
  });
}
