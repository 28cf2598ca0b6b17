import { createServer } from 'node:http';

const server = createServer((req, res) => {
  res.setHeader('content-type', 'text/plain; charset=utf-8');
  if (req.url === '/healthz') {
    res.statusCode = 503;
    res.end('unhealthy\n');
  } else if (req.url === '/') {
    res.end(`never-healthy ${process.env.APP_VERSION ?? 'dev'}\n`);
  } else {
    res.statusCode = 404;
    res.end('not found\n');
  }
});

server.listen(Number(process.env.PORT ?? 3000), process.env.HOST ?? '0.0.0.0', () => {
  console.log(`Listening on port ${server.address().port}`);
});

process.on('SIGTERM', () => {
  server.close();
  // A connection that stays open after its last answer would hold the exit up for seconds.
  setInterval(() => server.closeIdleConnections(), 100).unref();
});
