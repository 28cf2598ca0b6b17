import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const page = readFileSync(new URL('page.html', import.meta.url), 'utf8').replace(
  '{{version}}',
  () => process.env.APP_VERSION ?? 'dev',
);

const server = createServer((req, res) => {
  if (req.url === '/healthz') {
    res.setHeader('content-type', 'text/plain; charset=utf-8');
    res.end('ok\n');
  } else if (req.url === '/') {
    res.setHeader('content-type', 'text/html; charset=utf-8');
    res.end(page);
  } else {
    res.statusCode = 404;
    res.end('not found\n');
  }
});

const sockets = new WebSocketServer({ server, path: '/echo', maxPayload: 1024 * 1024 });
sockets.on('connection', (socket) => {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  socket.on('error', (error) => console.error('A client broke off:', error.message));
});

server.listen(Number(process.env.PORT ?? 3000), '0.0.0.0', () => {
  console.log(`Listening on port ${server.address().port}`);
});

process.on('SIGTERM', () => {
  console.log(`SIGTERM: closing ${sockets.clients.size} connections`);
  server.close();
  for (const socket of sockets.clients) socket.close(1001, 'The server is going away');
  // A connection that stays open after its last answer would hold the exit up for seconds.
  setInterval(() => server.closeIdleConnections(), 100).unref();
  // Clients that do not answer the close frame get no more than this.
  setTimeout(() => {
    for (const socket of sockets.clients) socket.terminate();
  }, 5000).unref();
});
