import Fastify from 'fastify';

const app = Fastify({ logger: true });

app.get('/', () => ({ app: 'dockerfile-app', version: process.env.APP_VERSION ?? 'dev', uid: process.getuid() }));
app.get('/healthz', () => ({ status: 'ok' }));

process.on('SIGTERM', () => {
  app.close();
  // A connection that stays open after its last answer would hold the exit up for more than a minute.
  setInterval(() => app.server.closeIdleConnections(), 100).unref();
});

await app.listen({ port: Number(process.env.PORT ?? 8080), host: '0.0.0.0' });
