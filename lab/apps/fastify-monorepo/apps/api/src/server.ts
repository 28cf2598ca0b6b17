import { greet, serve } from '@monorepo/shared';
import Fastify from 'fastify';

const version = process.env.APP_VERSION ?? 'dev';
const app = Fastify({ logger: true });

app.get('/', () => ({ app: 'fastify-monorepo-api', version }));
app.get('/healthz', () => ({ status: 'ok' }));
app.get<{ Querystring: { name?: string } }>('/greeting', (request) =>
  greet(request.query.name ?? '', 'fastify-monorepo-api', version),
);

await serve(app, 3001);
