import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const build = JSON.parse(readFileSync(new URL('dist/build.json', import.meta.url), 'utf8'));

const server = createServer((req, res) => {
  res.setHeader('content-type', 'text/plain; charset=utf-8');
  if (req.url === '/healthz') {
    res.end('ok\n');
  } else if (req.url === '/') {
    // Whether the secret of the build leaked into the running container is for everyone to see.
    const leaked = process.env.BUILD_TOKEN === undefined ? 'no' : 'yes';
    res.end(
      `build-secret ${process.env.APP_VERSION ?? 'dev'}\n` +
        `token sha256 ${build.tokenSha256}\ntoken visible at run time: ${leaked}\n`,
    );
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
