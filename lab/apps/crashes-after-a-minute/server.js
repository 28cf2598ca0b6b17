import { createServer } from 'node:http';

const crashAfterMs = Number(process.env.CRASH_AFTER_MS ?? 60_000);

const server = createServer((req, res) => {
  res.setHeader('content-type', 'text/plain; charset=utf-8');
  if (req.url === '/healthz') {
    res.end('ok\n');
  } else if (req.url === '/') {
    res.end(`crashes-after-a-minute ${process.env.APP_VERSION ?? 'dev'}\n`);
  } else {
    res.statusCode = 404;
    res.end('not found\n');
  }
});

function refreshCache(entries) {
  return entries.map((entry) => entry.key);
}

server.listen(Number(process.env.PORT ?? 3000), process.env.HOST ?? '0.0.0.0', () => {
  console.log(`Listening on port ${server.address().port}, until it crashes in ${crashAfterMs} ms`);
  // The kind of mistake that no health check sees coming. Unref: it must not hold up a stop.
  setTimeout(() => refreshCache(undefined), crashAfterMs).unref();
});

process.on('SIGTERM', () => {
  server.close();
  // A connection that stays open after its last answer would hold the exit up for seconds.
  setInterval(() => server.closeIdleConnections(), 100).unref();
});
