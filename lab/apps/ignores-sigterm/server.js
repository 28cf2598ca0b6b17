import { createServer } from 'node:http';

const server = createServer((req, res) => {
  res.setHeader('content-type', 'text/plain; charset=utf-8');
  if (req.url === '/healthz') {
    res.end('ok\n');
  } else if (req.url === '/') {
    res.end(`ignores-sigterm ${process.env.APP_VERSION ?? 'dev'}\n`);
  } else {
    res.statusCode = 404;
    res.end('not found\n');
  }
});

server.listen(Number(process.env.PORT ?? 3000), process.env.HOST ?? '0.0.0.0', () => {
  console.log(`Listening on port ${server.address().port}`);
});

process.on('SIGTERM', () => console.log('SIGTERM: ignored'));
