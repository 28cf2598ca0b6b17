import { isGreeting, serve } from '@monorepo/shared';
import Fastify from 'fastify';
import { page } from './page.js';

const version = process.env.APP_VERSION ?? 'dev';
const apiUrl = process.env.API_URL ?? 'http://localhost:3001';
const app = Fastify({ logger: true });

app.get('/', (_request, reply) => reply.type('text/html; charset=utf-8').send(page(version)));
app.get('/healthz', () => ({ status: 'ok' }));

// The api need not be reachable from outside: the page asks this server, and this server asks the api.
app.get<{ Querystring: { name?: string } }>('/greeting', async (request, reply) => {
  const url = new URL('/greeting', apiUrl);
  url.searchParams.set('name', request.query.name ?? '');
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5000) });
    const greeting: unknown = await answer.json();
    if (!isGreeting(greeting)) throw new Error(`The api answered ${answer.status} without a greeting`);
    return greeting;
  } catch (error) {
    request.log.error(error, 'No greeting from the api');
    return reply.code(502).send({ error: 'The api did not answer.' });
  }
});

await serve(app, 3000);
